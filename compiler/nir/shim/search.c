/* SPDX-License-Identifier: MIT */
/*
 * Matches the rules that NIR's algebraic passes are made of, in the place of Mesa's nir_search.c.
 *
 * The generated passes come with tables. An automaton gives each value a state, from its operation and the states of
 * its operands, and each state the rules whose search expression may fit by the operations alone. What is left to ask
 * of each such rule are constants, bit sizes, conditions, and whether operands that have to be equal are.
 *
 * Two things differ from Mesa's. Most attempts fail, and most values are scalars, so what can fail without looking
 * further is asked first and swizzles are only followed once it has not. And what a rule makes, its arithmetic on constants
 * done, is looked at again in the same run: Mesa leaves both to passes after it, so that all callers need a run that
 * finds nothing.
 */
#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_search.h"
#include "util/hash_table.h"
#include "util/ralloc.h"
#include "util/u_dynarray.h"

#include "copies.h"
#include "fold.h"

/*
 * Rules are not to undo each other for ever: after so many replacements, and as many more for each instruction that was
 * there, what they make is not looked at again.
 */
#define FEW_REPLACEMENTS 1024
#define MOST_REPLACEMENTS 16

/* Commutative expressions of a rule that are tried in both directions, as in Mesa: all combinations of them are. */
#define MOST_COMMUTATIVE 8

/* Instructions, in the order in which they come. */
struct queue {
   struct util_dynarray items;
   unsigned head;
};

struct search {
   const nir_algebraic_table *table;
   nir_builder build;
   /* The automaton's state of each value, by its index. */
   struct util_dynarray states;
   /* What rules are to be tried on, and whose users may have changed their states. */
   struct queue work, changed;
   /* For conditions that ask for ranges. */
   struct hash_table *ranges;
   unsigned replacements_left;
};

/* nir_instr::pass_flags of what is in the queue of work, and of what was replaced. */
#define QUEUED 1
#define DEAD 2

/* One rule's attempt. */
struct match {
   const struct search *search;
   /* Which of the commutative expressions have their operands exchanged, and how many have been met. */
   unsigned exchanged, commutative;
   bool inexact, exact;
   uint16_t seen;
   nir_alu_src variables[NIR_SEARCH_MAX_VARIABLES];
};

static void
push(struct queue *q, nir_instr *instr)
{
   util_dynarray_append(&q->items, nir_instr *, instr);
}

static nir_instr *
pop(struct queue *q)
{
   if (q->head == util_dynarray_num_elements(&q->items, nir_instr *)) {
      util_dynarray_clear(&q->items);
      q->head = 0;
      return NULL;
   }
   return *util_dynarray_element(&q->items, nir_instr *, q->head++);
}

/* Let the rules be tried on it, unless it waits for that already. */
static void
enqueue(struct search *s, nir_instr *instr)
{
   if (instr->pass_flags != 0)
      return;
   instr->pass_flags = QUEUED;
   push(&s->work, instr);
}

/* The operation of patterns that stands for all sizes of a conversion. */
static inline uint16_t
unsized_operation(nir_op op)
{
#define CASE_8(name) case nir_op_##name##8:
#define CASES(name, smallest)                                                                                          \
   smallest case nir_op_##name##16 : case nir_op_##name##32 : case nir_op_##name##64 : return nir_search_op_##name;
   switch (op) {
      CASES(i2f, )
      CASES(u2f, )
      CASES(f2f, )
      CASES(b2f, )
      CASES(f2u, CASE_8(f2u))
      CASES(f2i, CASE_8(f2i))
      CASES(u2u, CASE_8(u2u))
      CASES(i2i, CASE_8(i2i))
      CASES(b2i, CASE_8(b2i))
   default:
      return op;
   }
#undef CASES
#undef CASE_8
}

/* What NIR calls it. */
uint16_t
nir_search_op_for_nir_op(nir_op op)
{
   return unsized_operation(op);
}

static bool
fits_operation(nir_op op, uint16_t wanted)
{
   return wanted <= nir_last_opcode ? op == wanted : unsized_operation(op) == wanted;
}

/* The operation that a replacement of this size has. */
static nir_op
sized_operation(uint16_t wanted, unsigned bit_size)
{
#define OP_8(name) bit_size == 8 ? nir_op_##name##8:
#define SIZES(name, smallest)                                                                                          \
   case nir_search_op_##name:                                                                                          \
      return smallest bit_size == 16 ? nir_op_##name##16 : bit_size == 32 ? nir_op_##name##32 : nir_op_##name##64;
   switch (wanted) {
      SIZES(i2f, )
      SIZES(u2f, )
      SIZES(f2f, )
      SIZES(b2f, )
      SIZES(f2u, OP_8(f2u))
      SIZES(f2i, OP_8(f2i))
      SIZES(u2u, OP_8(u2u))
      SIZES(i2i, OP_8(i2i))
      SIZES(b2i, OP_8(b2i))
   default:
      return wanted;
   }
#undef SIZES
#undef OP_8
}

/* Work out the state of a value again. Is it another than before? */
static bool
update_state(struct search *s, const nir_instr *instr)
{
   uint16_t *states = s->states.data;
   if (instr->type == nir_instr_type_load_const) {
      uint16_t *state = &states[nir_instr_as_load_const(instr)->def.index];
      bool changed = *state != CONST_STATE;
      *state = CONST_STATE;
      return changed;
   }
   if (instr->type != nir_instr_type_alu)
      return false;
   const nir_alu_instr *alu = nir_instr_as_alu(instr);
   const struct per_op_table *of = &s->table->pass_op_table[unsized_operation(alu->op)];
   if (of->num_filtered_states == 0)
      return false;
   /* The index of the operands' states in the order of Python's itertools.product(), which the table was made with. */
   unsigned index = 0;
   if (of->filter) {
      const unsigned count = nir_op_infos[alu->op].num_inputs;
      for (unsigned i = 0; i < count; i++)
         index = index * of->num_filtered_states + of->filter[states[alu->src[i].src.ssa->index]];
   }
   uint16_t *state = &states[alu->def.index];
   bool changed = *state != of->table[index];
   *state = of->table[index];
   return changed;
}

/* A value that a replacement has made. */
static void
add_state(struct search *s, const nir_def *def)
{
   assert(def->index == util_dynarray_num_elements(&s->states, uint16_t));
   util_dynarray_append(&s->states, uint16_t, 0);
   update_state(s, def->parent_instr);
}

static const uint8_t identity[NIR_MAX_VEC_COMPONENTS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static bool match_expression(struct match *m, const nir_search_expression *expr, nir_alu_instr *alu, unsigned count,
                             const uint8_t *swizzle);

/* Is it known to have a value of this kind? */
static bool
is_of_type(const nir_def *def, nir_alu_type type)
{
   const nir_instr *parent = def->parent_instr;
   if (parent->type == nir_instr_type_intrinsic) {
      nir_intrinsic_op op = nir_instr_as_intrinsic(parent)->intrinsic;
      return type == nir_type_bool && (op == nir_intrinsic_load_front_face || op == nir_intrinsic_load_helper_invocation);
   }
   if (parent->type != nir_instr_type_alu)
      return false;
   const nir_alu_instr *alu = nir_instr_as_alu(parent);
   if (type == nir_type_bool) {
      switch (alu->op) {
      case nir_op_iand:
      case nir_op_ior:
      case nir_op_ixor:
         return is_of_type(alu->src[0].src.ssa, type) && is_of_type(alu->src[1].src.ssa, type);
      case nir_op_inot:
         return is_of_type(alu->src[0].src.ssa, type);
      default:
         break;
      }
   }
   return nir_alu_type_get_base_type(nir_op_infos[alu->op].output_type) == type;
}

/* Is this component of a constant the one that is wanted? */
static ALWAYS_INLINE bool
is_constant(const nir_search_constant *wanted, const nir_load_const_instr *load, unsigned component)
{
   const unsigned size = load->def.bit_size;
   const nir_const_value value = load->value[component];
   if (wanted->type != nir_type_float)
      return nir_const_value_as_uint(value, size) == (wanted->data.u & u_uintN_max(size));
   /* There are no floats of less than 16 bits. */
   return size >= 16 && nir_const_value_as_float(value, size) == wanted->data.d;
}

/* What may fail without a look at more than one of the components. */
static ALWAYS_INLINE bool
may_match(const struct match *m, const nir_search_value *value, const nir_alu_src *src, unsigned component)
{
   const nir_def *def = src->src.ssa;
   if (value->bit_size > 0 && def->bit_size != value->bit_size)
      return false;
   const nir_instr *parent = def->parent_instr;
   switch (value->type) {
   case nir_search_value_expression:
      return parent->type == nir_instr_type_alu &&
             fits_operation(nir_instr_as_alu(parent)->op, nir_search_value_as_expression(value)->opcode);
   case nir_search_value_variable: {
      const nir_search_variable *variable = nir_search_value_as_variable(value);
      if (m->seen & BITFIELD_BIT(variable->variable))
         return m->variables[variable->variable].src.ssa == def;
      return !variable->is_constant || parent->type == nir_instr_type_load_const;
   }
   default:
      return parent->type == nir_instr_type_load_const &&
             is_constant(nir_search_value_as_constant(value), nir_instr_as_load_const(parent), src->swizzle[component]);
   }
}

static bool
match_variable(struct match *m, const nir_search_variable *variable, nir_alu_instr *alu, unsigned operand,
               unsigned count, const uint8_t *components)
{
   nir_alu_src *bound = &m->variables[variable->variable];
   nir_def *def = alu->src[operand].src.ssa;
   if (m->seen & BITFIELD_BIT(variable->variable)) {
      bool equal = bound->src.ssa == def;
      for (unsigned i = 0; i < count; i++)
         equal &= bound->swizzle[i] == components[i];
      return equal;
   }
   if ((variable->cond_index != -1 &&
        !m->search->table->variable_cond[variable->cond_index](m->search->ranges, alu, operand, count, components)) ||
       (variable->type != nir_type_invalid && !is_of_type(def, variable->type)))
      return false;
   m->seen |= BITFIELD_BIT(variable->variable);
   bound->src.ssa = def;
   /* A replacement may have more components than the match: these are the first of the value, as in all runs. */
   memset(bound->swizzle, 0, sizeof(bound->swizzle));
   for (unsigned i = 0; i < count; i++)
      bound->swizzle[i] = components[i];
   return true;
}

/* Does an operand that may fit do so, as far as these components of the instruction are used? */
static bool
match_operand(struct match *m, const nir_search_value *value, nir_alu_instr *alu, unsigned operand, unsigned count,
              const uint8_t *swizzle)
{
   const nir_alu_src *src = &alu->src[operand];
   const unsigned own_count = nir_op_infos[alu->op].input_sizes[operand];
   uint8_t gathered[NIR_MAX_VEC_COMPONENTS];
   const uint8_t *components = gathered;
   if (own_count != 0) {
      count = own_count;
      components = src->swizzle;
   } else if (count == 1) {
      components = &src->swizzle[swizzle[0]];
   } else {
      for (unsigned i = 0; i < count; i++)
         gathered[i] = src->swizzle[swizzle[i]];
   }
   nir_instr *parent = src->src.ssa->parent_instr;
   switch (value->type) {
   case nir_search_value_expression:
      return match_expression(m, nir_search_value_as_expression(value), nir_instr_as_alu(parent), count, components);
   case nir_search_value_variable:
      return match_variable(m, nir_search_value_as_variable(value), alu, operand, count, components);
   default:
      for (unsigned i = 1; i < count; i++) { /* The first has been looked at. */
         if (!is_constant(nir_search_value_as_constant(value), nir_instr_as_load_const(parent), components[i]))
            return false;
      }
      return true;
   }
}

/* Whether the operands of an expression are exchanged in this direction. */
static inline unsigned
exchange_of(struct match *m, const nir_search_expression *expr)
{
   if (expr->comm_expr_idx < 0)
      return 0;
   m->commutative = MAX2(m->commutative, (unsigned)expr->comm_expr_idx + 1);
   return expr->comm_expr_idx < MOST_COMMUTATIVE ? m->exchanged >> expr->comm_expr_idx & 1 : 0;
}

/* The operand that one of an expression's is compared with: it is always the first two that commute. */
static inline unsigned
operand_of(unsigned index, unsigned exchange)
{
   return index < 2 ? index ^ exchange : index;
}

static ALWAYS_INLINE bool
operands_may_match(const struct match *m, const nir_search_expression *expr, const nir_alu_instr *alu,
                   unsigned exchange, unsigned component)
{
   const nir_search_value_union *values = m->search->table->values;
   const nir_op_info *info = &nir_op_infos[alu->op];
   for (unsigned i = 0; i < info->num_inputs; i++) {
      const unsigned operand = operand_of(i, exchange);
      if (!may_match(m, &values[expr->srcs[i]].value, &alu->src[operand],
                     info->input_sizes[operand] != 0 ? 0 : component))
         return false;
   }
   return true;
}

/* Does an instruction whose operation fits, and whose operands may, do so with all else? */
static bool
match_all(struct match *m, const nir_search_expression *expr, nir_alu_instr *alu, unsigned exchange, unsigned count,
          const uint8_t *swizzle)
{
   const nir_algebraic_table *table = m->search->table;
   const nir_op_info *info = &nir_op_infos[alu->op];
   m->inexact |= expr->inexact;
   m->exact |= alu->exact && !expr->ignore_exact;
   if ((m->inexact && m->exact) || (expr->nsz && nir_alu_instr_is_signed_zero_preserve(alu)) ||
       (expr->nnan && nir_alu_instr_is_nan_preserve(alu)) || (expr->ninf && nir_alu_instr_is_inf_preserve(alu)))
      return false;
   if (expr->cond_index != -1 && !table->expression_cond[expr->cond_index](alu))
      return false;
   if (expr->swizzle_y) {
      if (count != 1 || swizzle[0] != 1)
         return false;
   } else if (info->output_size != 0) {
      /* Components of a result that is no vector of the operands' components cannot be followed any further. */
      for (unsigned i = 0; i < count; i++) {
         if (swizzle[i] != i)
            return false;
      }
   }
   for (unsigned i = 0; i < info->num_inputs; i++) {
      if (!match_operand(m, &table->values[expr->srcs[i]].value, alu, operand_of(i, exchange), count, swizzle))
         return false;
   }
   return true;
}

/* Does an instruction whose operation fits do so with all else, as far as these components of it are used? */
static bool
match_expression(struct match *m, const nir_search_expression *expr, nir_alu_instr *alu, unsigned count,
                 const uint8_t *swizzle)
{
   const unsigned exchange = exchange_of(m, expr);
   return operands_may_match(m, expr, alu, exchange, swizzle[0]) &&
          match_all(m, expr, alu, exchange, count, swizzle);
}

/* Try a rule in all directions of its commutative expressions. */
static bool
match_rule(struct match *m, const nir_search_expression *expr, nir_alu_instr *alu)
{
   const unsigned directions = 1u << MIN2(expr->comm_exprs, MOST_COMMUTATIVE);
   m->commutative = 0;
   for (unsigned direction = 0; direction < directions; direction++) {
      m->exchanged = direction;
      m->inexact = m->exact = false;
      m->seen = 0;
      const unsigned exchange = exchange_of(m, expr);
      if (operands_may_match(m, expr, alu, exchange, 0) &&
          match_all(m, expr, alu, exchange, alu->def.num_components, identity))
         return true;
      /* Those that no direction so far has come to do not matter. */
      if (direction + 1 >= 1u << MIN2(m->commutative, MOST_COMMUTATIVE))
         break;
   }
   return false;
}

static unsigned
replacement_size(const nir_search_value *value, unsigned size, const struct match *m)
{
   if (value->bit_size > 0)
      return value->bit_size;
   return value->bit_size < 0 ? m->variables[-value->bit_size - 1].src.ssa->bit_size : size;
}

/* Make a value of a replacement, where the builder stands, of this size unless the replacement says another. */
static nir_alu_src construct(struct search *s, const struct match *m, const nir_search_value *value, unsigned count,
                             unsigned size, const nir_alu_instr *replaced);

static nir_def *
construct_expression(struct search *s, const struct match *m, const nir_search_expression *expr, unsigned count,
                     unsigned size, const nir_alu_instr *replaced)
{
   const unsigned own_size = replacement_size(&expr->value, size, m);
   const nir_op op = sized_operation(expr->opcode, own_size);
   const nir_op_info *info = &nir_op_infos[op];
   if (info->output_size != 0)
      count = info->output_size;
   nir_alu_instr *alu = nir_alu_instr_create(s->build.shader, op);
   nir_def_init(&alu->instr, &alu->def, count, own_size);
   /* Nothing says which part of what is replaced it stands for: if any of these was exact, so is all of it. */
   alu->exact = m->exact || expr->exact;
   alu->fp_fast_math = replaced->fp_fast_math;
   for (unsigned i = 0; i < info->num_inputs; i++) {
      if (info->input_sizes[i] != 0)
         count = info->input_sizes[i];
      alu->src[i] = construct(s, m, &s->table->values[expr->srcs[i]].value, count, size, replaced);
   }
   if (can_fold_alu(alu)) {
      nir_def *def = fold_alu(&s->build, alu);
      nir_instr_free(&alu->instr);
      return def;
   }
   nir_builder_instr_insert(&s->build, &alu->instr);
   if (s->replacements_left > 0)
      enqueue(s, &alu->instr);
   return &alu->def;
}

static nir_def *
construct_constant(struct search *s, const struct match *m, const nir_search_constant *constant, unsigned size)
{
   size = replacement_size(&constant->value, size, m);
   switch (constant->type) {
   case nir_type_float:
      return nir_imm_floatN_t(&s->build, constant->data.d, size);
   case nir_type_bool:
      return nir_imm_boolN_t(&s->build, constant->data.u, size);
   default:
      return nir_imm_intN_t(&s->build, constant->data.i, size);
   }
}

static nir_alu_src
construct(struct search *s, const struct match *m, const nir_search_value *value, unsigned count, unsigned size,
          const nir_alu_instr *replaced)
{
   nir_alu_src result = { NIR_SRC_INIT };
   if (value->type == nir_search_value_variable) {
      const nir_search_variable *variable = nir_search_value_as_variable(value);
      const nir_alu_src *bound = &m->variables[variable->variable];
      result.src = nir_src_for_ssa(bound->src.ssa);
      for (unsigned i = 0; i < NIR_MAX_VEC_COMPONENTS; i++)
         result.swizzle[i] = bound->swizzle[variable->swizzle[i]];
      return result;
   }
   nir_def *def = value->type == nir_search_value_constant
                     ? construct_constant(s, m, nir_search_value_as_constant(value), size)
                     : construct_expression(s, m, nir_search_value_as_expression(value), count, size, replaced);
   add_state(s, def);
   result.src = nir_src_for_ssa(def);
   if (value->type == nir_search_value_expression)
      memcpy(result.swizzle, identity, sizeof(result.swizzle));
   return result;
}

/* The users of a value that has got another state, and theirs, as long as there are any whose own has changed. */
static void
update_users(struct search *s, nir_instr *instr)
{
   do {
      nir_foreach_use(use, nir_instr_def(instr)) {
         nir_instr *user = nir_src_parent_instr(use);
         if (update_state(s, user)) {
            enqueue(s, user);
            push(&s->changed, user);
         }
      }
   } while ((instr = pop(&s->changed)));
}

/* Where the replacement of an instruction goes. */
static nir_cursor
place_of(nir_alu_instr *alu)
{
   /*
    * What takes the place of a negation and the like goes to its operand, which it will often be merged with: at the
    * instruction, which may be far away, operands of the operand would have to live on.
    */
   nir_alu_instr *operand = nir_src_as_alu_instr(alu->src[0].src);
   switch (alu->op) {
   case nir_op_fneg:
   case nir_op_fabs:
   case nir_op_ineg:
   case nir_op_iabs:
   case nir_op_inot:
      return operand ? nir_after_instr(&operand->instr) : nir_before_instr(&alu->instr);
   default:
      return nir_before_instr(&alu->instr);
   }
}

/* Let the users of a value take components of another. */
static void
rewrite_users(struct search *s, nir_def *def, const nir_alu_src *by)
{
   if (def->num_components == by->src.ssa->num_components &&
       memcmp(by->swizzle, identity, def->num_components) == 0) {
      nir_def_rewrite_uses(def, by->src.ssa);
      return;
   }
   nir_def *copy = NULL;
   nir_foreach_use_including_if_safe(use, def) {
      if (!nir_src_is_if(use) && nir_src_parent_instr(use)->type == nir_instr_type_alu) {
         copy_to_operand(container_of(use, nir_alu_src, src), by);
         continue;
      }
      if (!copy) {
         copy = nir_mov_alu(&s->build, *by, def->num_components);
         add_state(s, copy);
      }
      nir_src_rewrite(use, copy);
   }
}

/* An instruction whose value others take. It may be in the queue still, and is freed with all that are dead. */
static void
take_out(nir_alu_instr *alu)
{
   alu->instr.pass_flags = DEAD;
   nir_instr_remove(&alu->instr);
}

static void
replace(struct search *s, const struct match *m, const nir_search_value *by, nir_alu_instr *alu)
{
   s->replacements_left -= s->replacements_left > 0;
   s->build.cursor = place_of(alu);
   const nir_alu_src value = construct(s, m, by, alu->def.num_components, alu->def.bit_size, alu);
   rewrite_users(s, &alu->def, &value);
   update_users(s, value.src.ssa->parent_instr);
   take_out(alu);
}

/* Arithmetic on constants. */
static void
replace_by_constant(struct search *s, nir_alu_instr *alu)
{
   s->build.cursor = nir_before_instr(&alu->instr);
   nir_def *constant = fold_alu(&s->build, alu);
   add_state(s, constant);
   nir_def_rewrite_uses(&alu->def, constant);
   update_users(s, constant->parent_instr);
   take_out(alu);
}

/* Apply the first rule that fits. */
static bool
apply_rules(struct search *s, const bool *conditions, nir_alu_instr *alu, struct match *m)
{
   if (can_fold_alu(alu)) {
      replace_by_constant(s, alu);
      return true;
   }
   const nir_algebraic_table *table = s->table;
   const bool ignores_inexact =
      nir_alu_instr_is_signed_zero_inf_nan_preserve(alu) ||
      nir_is_denorm_flush_to_zero(s->build.shader->info.float_controls_execution_mode, alu->def.bit_size);
   const uint16_t state = ((const uint16_t *)s->states.data)[alu->def.index];
   for (const struct transform *rule = &table->transforms[table->transform_offsets[state]];
        rule->condition_offset != ~0u; rule++) {
      if (!conditions[rule->condition_offset])
         continue;
      const nir_search_expression *expr = &table->values[rule->search].expression;
      if ((expr->value.bit_size > 0 && expr->value.bit_size != alu->def.bit_size) ||
          (expr->inexact && ignores_inexact) || !fits_operation(alu->op, expr->opcode) || !match_rule(m, expr, alu))
         continue;
      replace(s, m, &table->values[rule->replace].value, alu);
      _mesa_hash_table_clear(s->ranges, NULL);
      return true;
   }
   return false;
}

/* The state of all values, and the queue of all arithmetic from the end on: large patterns are found before their parts. */
static void
begin(struct search *s, nir_function_impl *impl)
{
   nir_foreach_block(block, impl) {
      nir_foreach_instr(instr, block) {
         instr->pass_flags = 0;
         update_state(s, instr);
      }
   }
   nir_foreach_block_reverse(block, impl) {
      nir_foreach_instr_reverse(instr, block) {
         if (instr->type == nir_instr_type_alu)
            enqueue(s, instr);
      }
   }
}

/* What the generated passes call. */
bool
nir_algebraic_impl(nir_function_impl *impl, const bool *conditions, const nir_algebraic_table *table)
{
   void *memory = ralloc_context(NULL);
   struct search search = { .table = table, .build = nir_builder_create(impl) }, *s = &search;
   util_dynarray_init(&s->states, memory);
   util_dynarray_init(&s->work.items, memory);
   util_dynarray_init(&s->changed.items, memory);
   /* State 0 is that of everything but constants and arithmetic. */
   memset(util_dynarray_grow_bytes(&s->states, impl->ssa_alloc, sizeof(uint16_t)), 0,
          impl->ssa_alloc * sizeof(uint16_t));
   s->ranges = _mesa_pointer_hash_table_create(memory);
   begin(s, impl);
   s->replacements_left =
      FEW_REPLACEMENTS + MOST_REPLACEMENTS * util_dynarray_num_elements(&s->work.items, nir_instr *);

   struct exec_list dead;
   exec_list_make_empty(&dead);
   struct match match = { .search = s };
   nir_instr *instr;
   while ((instr = pop(&s->work))) {
      if (instr->pass_flags == DEAD)
         continue;
      instr->pass_flags = 0;
      if (apply_rules(s, conditions, nir_instr_as_alu(instr), &match))
         exec_list_push_tail(&dead, &instr->node);
   }
   bool progress = !exec_list_is_empty(&dead);
   nir_instr_free_list(&dead);
   ralloc_free(memory);
   nir_metadata_preserve(impl, progress ? nir_metadata_control_flow : nir_metadata_all);
   return progress;
}
