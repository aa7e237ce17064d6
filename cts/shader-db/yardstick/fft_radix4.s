; SPDX-License-Identifier: MIT
; Yardstick of fft_radix4.comp: one radix-4 stage.
; Checked: its four stages (p = 1, 4, 16, 64) in turn on 256 points, within 1e-4 of a DFT in double precision.
; 59 instructions; 118 executed by all subgroups of 1 workgroup of 64.
    get_sr r0, %global_id_x
    device_load.i32x2 r2:r3, u2:u3, none, slot=1           ; p, t
    device_load.i32x2 r4:r5, u0:u1, none, slot=1           ; x
    device_load.i32x2 r8:r9, u0:u1, none, offset=32, slot=1 ; w
    device_load.i32x2 r6:r7, u0:u1, none, offset=16, slot=2 ; y
    mov_imm r1, #1
    isub r10, r2, r1, wait=1
    and r10, r0, r10                                 ; k
    iadd r11, r0, r3
    iadd r12, r11, r3
    iadd r13, r12, r3
    iadd r14, r10, r2
    iadd r15, r14, r2
    device_load.i32x2 r24:r25, r4:r5, r12, scale=lsl3, slot=3  ; a2
    device_load.i32x2 r26:r27, r8:r9, r14, scale=lsl3, slot=3
    device_load.i32x2 r20:r21, r4:r5, r11, scale=lsl3, slot=4  ; a1
    device_load.i32x2 r22:r23, r8:r9, r10, scale=lsl3, slot=4
    device_load.i32x2 r28:r29, r4:r5, r13, scale=lsl3, slot=5  ; a3
    device_load.i32x2 r30:r31, r8:r9, r15, scale=lsl3, slot=5
    device_load.i32x2 r16:r17, r4:r5, r0, scale=lsl3, slot=6   ; a0
    isub r0, r0, r10                                 ; o = 4 * (i - k) + k
    shl r0, r0, #2
    iadd r0, r0, r10
    iadd r10, r0, r2
    iadd r11, r10, r2
    iadd r12, r11, r2
    fmul r32, r24, r26, wait=3
    fma r32, r25, r27, r32, negP
    fmul r33, r24, r27
    fma r33, r25, r26, r33                           ; a2
    fmul r34, r20, r22, wait=4
    fma r34, r21, r23, r34, negP
    fmul r35, r20, r23
    fma r35, r21, r22, r35                           ; a1
    fmul r36, r28, r30, wait=5
    fma r36, r29, r31, r36, negP
    fmul r37, r28, r31
    fma r37, r29, r30, r37                           ; a3
    fadd r20, r16, r32, wait=6                       ; b0
    fadd r21, r17, r33
    fadd r22, r16, -r32                              ; b1
    fadd r23, r17, -r33
    fadd r24, r34, r36                               ; b2
    fadd r25, r35, r37
    fadd r26, r34, -r36                              ; b3
    fadd r27, r35, -r37
    fadd r28, r20, r24
    fadd r29, r21, r25
    device_store.i32x2 r28:r29, r6:r7, r0, scale=lsl3, wait=2
    fadd r30, r22, r27
    fadd r31, r23, -r26
    device_store.i32x2 r30:r31, r6:r7, r10, scale=lsl3
    fadd r20, r20, -r24
    fadd r21, r21, -r25
    device_store.i32x2 r20:r21, r6:r7, r11, scale=lsl3
    fadd r22, r22, -r27
    fadd r23, r23, r26
    device_store.i32x2 r22:r23, r6:r7, r12, scale=lsl3
    stop
