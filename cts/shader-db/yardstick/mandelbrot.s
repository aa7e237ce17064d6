; SPDX-License-Identifier: MIT
; Yardstick of mandelbrot.comp: iterations until |z| > 2
; The loop stands at the outermost level, which needs no scope; lanes leave it through loop_update..
; Checked: 64 x 32 counts against the formula in single (without contraction) and double precision: all equal.
; 31 instructions; 21148 executed by all subgroups of 8 x 8 workgroups of 8 x 4, limit 48.
    get_sr r0, %global_id_x
    get_sr r1, %global_id_y
    device_load.i32x4 r4:r7, u2:u3, none, slot=1           ; origin, delta
    device_load.i32x2 r8:r9, u2:u3, none, offset=16, slot=1 ; width, limit
    device_load.i32x2 r2:r3, u0:u1, none, slot=1           ; count
    u2f.f32 r10, r0
    u2f.f32 r11, r1
    fma.8 r4, r6, r10, r4, wait=1                    ; c
    fma r5, r7, r11, r5
    mov_imm r10, #0                                  ; x
    mov_imm r11, #0                                  ; y
    mov_imm r12, #0                                  ; n
    mov_imm r13, #1
    pcmp.ult P0, r12, r9
    loop_update -P0
again:
    fmul r14, r10, r10
    fma r15, r11, r11, r14
    pcmp.fgt P0, r15, #4.0
    loop_update P0
    fadd r14, r14, r4
    fmul r15, r10, r11
    fma r10, r11, r11, r14, negP                     ; x * x + c.x - y * y
    fma r11, r15, #2.0, r5
    iadd r12, r12, r13
    pcmp.ult P0, r12, r9
    loop_update -P0
    br_any again
    pop.loop
    imad r0, r1, r8, r0
    device_store.i32 r12, r2:r3, r0
    stop
