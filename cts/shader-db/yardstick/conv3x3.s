; SPDX-License-Identifier: MIT
; Yardstick of conv3x3.comp: 3 x 3 convolution of a padded image.
; Checked: 32 x 16 outputs within 1e-6 of the sum in double precision.
; 25 instructions; 400 executed by all subgroups of 4 x 2 workgroups of 8 x 8.
    get_sr r0, %global_id_x
    get_sr r1, %global_id_y
    device_load.i32x4 r4:r7, u2:u3, none, offset=32, slot=1 ; k[8], source width, target width, padding
    device_load.i32x2 r2:r3, u0:u1, none, slot=1           ; source
    device_load.i32x4 r8:r11, u2:u3, none, slot=2          ; k[0..3]
    device_load.i32x4 r12:r15, u2:u3, none, offset=16, slot=2 ; k[4..7]
    device_load.i32x2 r28:r29, u0:u1, none, offset=16, slot=2 ; target
    imad r16, r1, r5, r0, wait=1
    iadd r17, r16, r5
    iadd r18, r17, r5
    device_load.i32x3 r19:r21, r2:r3, r16, slot=3
    device_load.i32x3 r22:r24, r2:r3, r17, slot=4
    device_load.i32x3 r25:r27, r2:r3, r18, slot=5
    imad r16, r1, r6, r0
    fmul r8, r8, r19, wait=2|3
    fma r8, r9, r20, r8
    fma r8, r10, r21, r8
    fma r8, r11, r22, r8, wait=4
    fma r8, r12, r23, r8
    fma r8, r13, r24, r8
    fma r8, r14, r25, r8, wait=5
    fma r8, r15, r26, r8
    fma r8, r4, r27, r8
    device_store.i32 r8, r28:r29, r16
    stop
