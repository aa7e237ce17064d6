; SPDX-License-Identifier: MIT
; Yardstick of sgemm.comp: a tile of 4 x 4 of C = A * B
; r0..r15 tile, r16..r31 four elements of four rows of A, r32..r47 of four rows of B.
; Checked: C of 32 x 64 with K = 24 within 1e-5 of a product in double precision; K = 0 gives zeros.
; 127 instructions; 2048 executed by all subgroups of 2 x 2 workgroups of 8 x 4, k4 = 6.
    get_sr r48, %global_id_x                         ; column
    get_sr r49, %global_id_y
    device_load.i32x2 r50:r51, u2:u3, none, slot=1   ; n4, k4
    device_load.i32x2 r64:r65, u0:u1, none, slot=1   ; a
    device_load.i32x2 r72:r73, u0:u1, none, offset=16, slot=1 ; b
    device_load.i32x2 r80:r81, u0:u1, none, offset=32, slot=1 ; c
    shl r49, r49, #2                                 ; row
    shl r54, r51, #4, wait=1                         ; bytes of a row of A
    mov_imm r55, #0
    shl r56, r50, #4                                 ; and of B
    mov_imm r57, #0
    imul_wide r58:r59, r49, r54
    iadd64 r64:r65, r64:r65, r58:r59                 ; the four rows of A that the tile needs
    iadd64 r66:r67, r64:r65, r54:r55
    iadd64 r68:r69, r66:r67, r54:r55
    iadd64 r70:r71, r68:r69, r54:r55
    iadd64 r74:r75, r72:r73, r56:r57                 ; four rows of B, together indexed by r52
    iadd64 r76:r77, r74:r75, r56:r57
    iadd64 r78:r79, r76:r77, r56:r57
    imad r58, r49, r50, r48                          ; of C
    shl r53, r50, #2
    mov_imm r60, #0                                  ; k
    mov_imm r61, #1
    mov_imm r0, #0
    mov_imm r1, #0
    mov_imm r2, #0
    mov_imm r3, #0
    mov_imm r4, #0
    mov_imm r5, #0
    mov_imm r6, #0
    mov_imm r7, #0
    mov_imm r8, #0
    mov_imm r9, #0
    mov_imm r10, #0
    mov_imm r11, #0
    mov_imm r12, #0
    mov_imm r13, #0
    mov_imm r14, #0
    mov_imm r15, #0
    pcmp.ult P0, r60, r51
    loop_update -P0
again:
    device_load.i32x4 r16:r19, r64:r65, r60, scale=lsl4, slot=6
    device_load.i32x4 r20:r23, r66:r67, r60, scale=lsl4, slot=6
    device_load.i32x4 r24:r27, r68:r69, r60, scale=lsl4, slot=6
    device_load.i32x4 r28:r31, r70:r71, r60, scale=lsl4, slot=6
    device_load.i32x4 r32:r35, r72:r73, r48, scale=lsl4, slot=6
    device_load.i32x4 r36:r39, r74:r75, r48, scale=lsl4, slot=1
    device_load.i32x4 r40:r43, r76:r77, r48, scale=lsl4, slot=2
    device_load.i32x4 r44:r47, r78:r79, r48, scale=lsl4, slot=3
    iadd r60, r60, r61
    iadd r48, r48, r53
    fma r0, r16, r32, r0, wait=6
    fma r1, r16, r33, r1
    fma r2, r16, r34, r2
    fma r3, r16, r35, r3
    fma r4, r20, r32, r4
    fma r5, r20, r33, r5
    fma r6, r20, r34, r6
    fma r7, r20, r35, r7
    fma r8, r24, r32, r8
    fma r9, r24, r33, r9
    fma r10, r24, r34, r10
    fma r11, r24, r35, r11
    fma r12, r28, r32, r12
    fma r13, r28, r33, r13
    fma r14, r28, r34, r14
    fma r15, r28, r35, r15
    fma r0, r17, r36, r0, wait=1
    fma r1, r17, r37, r1
    fma r2, r17, r38, r2
    fma r3, r17, r39, r3
    fma r4, r21, r36, r4
    fma r5, r21, r37, r5
    fma r6, r21, r38, r6
    fma r7, r21, r39, r7
    fma r8, r25, r36, r8
    fma r9, r25, r37, r9
    fma r10, r25, r38, r10
    fma r11, r25, r39, r11
    fma r12, r29, r36, r12
    fma r13, r29, r37, r13
    fma r14, r29, r38, r14
    fma r15, r29, r39, r15
    fma r0, r18, r40, r0, wait=2
    fma r1, r18, r41, r1
    fma r2, r18, r42, r2
    fma r3, r18, r43, r3
    fma r4, r22, r40, r4
    fma r5, r22, r41, r5
    fma r6, r22, r42, r6
    fma r7, r22, r43, r7
    fma r8, r26, r40, r8
    fma r9, r26, r41, r9
    fma r10, r26, r42, r10
    fma r11, r26, r43, r11
    fma r12, r30, r40, r12
    fma r13, r30, r41, r13
    fma r14, r30, r42, r14
    fma r15, r30, r43, r15
    fma r0, r19, r44, r0, wait=3
    fma r1, r19, r45, r1
    fma r2, r19, r46, r2
    fma r3, r19, r47, r3
    fma r4, r23, r44, r4
    fma r5, r23, r45, r5
    fma r6, r23, r46, r6
    fma r7, r23, r47, r7
    fma r8, r27, r44, r8
    fma r9, r27, r45, r9
    fma r10, r27, r46, r10
    fma r11, r27, r47, r11
    fma r12, r31, r44, r12
    fma r13, r31, r45, r13
    fma r14, r31, r46, r14
    fma r15, r31, r47, r15
    pcmp.ult P0, r60, r51
    loop_update -P0
    br_any again
    pop.loop
    device_store.i32x4 r0:r3, r80:r81, r58, scale=lsl4
    iadd r58, r58, r50
    device_store.i32x4 r4:r7, r80:r81, r58, scale=lsl4
    iadd r58, r58, r50
    device_store.i32x4 r8:r11, r80:r81, r58, scale=lsl4
    iadd r58, r58, r50
    device_store.i32x4 r12:r15, r80:r81, r58, scale=lsl4
    stop
