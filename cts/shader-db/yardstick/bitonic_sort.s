; SPDX-License-Identifier: MIT
; Yardstick of bitonic_sort.comp: 256 keys in shared memory, two a lane.
; Checked: 2 workgroups of random keys against a library's sort; n = 0 leaves them as they are.
; 54 instructions; 5864 executed by all subgroups of 2 workgroups of 128, n = 256.
    get_sr16 r0.l, %local_index
    zext16 r0                                        ; l
    get_sr r1, %workgroup_id_x
    device_load.i32x2 r2:r3, u0:u1, none, slot=1           ; keys
    device_load.i32 r4, u2:u3, none, slot=2                ; n
    shl r1, r1, #8
    iadd r1, r1, r0                                  ; first
    device_load.i32 r6, r2:r3, r1, wait=1, slot=1
    device_load.i32 r7, r2:r3, r1, offset=512, slot=1
    mov_imm r5, #128
    iadd r5, r5, r0                                  ; l + 128
    iadd r8, r0, r0                                  ; 2 * l
    or r6, r6, r6, wait=1
    threadgroup_store ^r6, u4:u5, r0.l
    threadgroup_store ^r7, u4:u5, r5.l
    mov_imm r9, #0
    mov_imm r10, #1
    or r4, r4, r4, wait=2
    mov_imm r11, #2                                  ; k
    barrier.threadgroup
    pcmp.ugt P0, r11, r4
    loop_update P0
    br_none sorted                                   ; no barrier without lanes
lengths:
    shr r12, r11, #1                                 ; j
    push.loop true
distances:
    isub r13, r12, r10
    and r13, r0, ^r13
    isub r13, r8, ^r13                               ; i
    iadd r14, r13, r12                               ; i + j
    threadgroup_load r6, u4:u5, r13.l, slot=6
    threadgroup_load r7, u4:u5, r14.l, slot=6
    and r15, r13, r11                                ; 0 = up
    umin r16, r6, r7, wait=6
    umax r17, ^r6, ^r7
    select.10.ieq r6, r15, r9, r16, r17
    threadgroup_store ^r6, u4:u5, ^r13.l
    select.10.ieq r7, ^r15, r9, ^r17, ^r16
    threadgroup_store ^r7, u4:u5, ^r14.l
    barrier.threadgroup
    shr r12, r12, #1
    pcmp.ieq P0, r12, r9
    loop_update P0
    br_any distances
    pop.loop
    iadd r11, r11, r11
    pcmp.ugt P0, r11, r4
    loop_update P0
    br_any lengths
sorted:
    pop.loop
    threadgroup_load r6, u4:u5, ^r0.l, slot=6
    threadgroup_load r7, u4:u5, ^r5.l, slot=6
    device_store.i32 r6, r2:r3, r1, wait=6
    device_store.i32 r7, r2:r3, r1, offset=512
    stop
