; SPDX-License-Identifier: MIT
; Yardstick of sha256_rounds.comp: rounds 16 to 23 with the message schedule, 41 instructions a round; rotations in place, the only proven form (isa-4, 7.3)
; r8..r23 schedule words, r24..r31 a to h, each round's registers renamed.
; Checked: 32 blocks: state and schedule after round 23 as in a plain implementation whose digests agree with a library's.
; 345 instructions; 345 executed by all subgroups of 1 workgroup of 32.
    get_sr r0, %global_id_x
    device_load.i32x2 r2:r3, u0:u1, none, slot=1               ; message
    device_load.i32x2 r4:r5, u0:u1, none, offset=16, slot=2    ; state
    shl r1, r0, #2
    shl r0, r0, #1
    device_load.i32x4 r8:r11, r2:r3, r1, scale=lsl4, slot=3, wait=1
    device_load.i32x4 r12:r15, r2:r3, r1, scale=lsl4, offset=16, slot=3
    device_load.i32x4 r16:r19, r2:r3, r1, scale=lsl4, offset=32, slot=3
    device_load.i32x4 r20:r23, r2:r3, r1, scale=lsl4, offset=48, slot=3
    device_load.i32x4 r24:r27, r4:r5, r0, scale=lsl4, slot=4, wait=2
    device_load.i32x4 r28:r31, r4:r5, r0, scale=lsl4, offset=16, slot=4
    ; round 16
    or r32, r9, r9, wait=3
    rotr r32, r32, r32, #11
    xor r32, ^r32, r9
    rotr r32, r32, r32, #7
    shr r33, r9, #3
    xor r32, ^r32, ^r33
    or r33, r22, r22
    rotr r33, r33, r33, #2
    xor r33, ^r33, r22
    rotr r33, r33, r33, #17
    shr r34, r22, #10
    xor r33, ^r33, ^r34
    iadd r8, r8, ^r32
    iadd r8, r8, r17
    iadd r8, r8, ^r33
    or r32, r28, r28, wait=4
    rotr r32, r32, r32, #14
    xor r32, ^r32, r28
    rotr r32, r32, r32, #5
    xor r32, ^r32, r28
    rotr r32, r32, r32, #6
    xor r33, r29, r30
    and r33, r28, ^r33
    xor r33, r30, ^r33
    iadd r31, r31, ^r32
    iadd r31, r31, ^r33
    mov_imm r32, #0xe49b69c1
    iadd r31, r31, ^r32
    iadd r31, r31, r8
    iadd r27, r27, r31
    or r32, r24, r24
    rotr r32, r32, r32, #9
    xor r32, ^r32, r24
    rotr r32, r32, r32, #11
    xor r32, ^r32, r24
    rotr r32, r32, r32, #2
    xor r41, r25, r26
    xor r40, r24, r25
    and r41, r40, ^r41
    xor r41, r25, ^r41
    iadd r31, r31, ^r32
    iadd r31, r31, ^r41
    ; round 17
    or r32, r10, r10
    rotr r32, r32, r32, #11
    xor r32, ^r32, r10
    rotr r32, r32, r32, #7
    shr r33, r10, #3
    xor r32, ^r32, ^r33
    or r33, r23, r23
    rotr r33, r33, r33, #2
    xor r33, ^r33, r23
    rotr r33, r33, r33, #17
    shr r34, r23, #10
    xor r33, ^r33, ^r34
    iadd r9, r9, ^r32
    iadd r9, r9, r18
    iadd r9, r9, ^r33
    or r32, r27, r27
    rotr r32, r32, r32, #14
    xor r32, ^r32, r27
    rotr r32, r32, r32, #5
    xor r32, ^r32, r27
    rotr r32, r32, r32, #6
    xor r33, r28, r29
    and r33, r27, ^r33
    xor r33, r29, ^r33
    iadd r30, r30, ^r32
    iadd r30, r30, ^r33
    mov_imm r32, #0xefbe4786
    iadd r30, r30, ^r32
    iadd r30, r30, r9
    iadd r26, r26, r30
    or r32, r31, r31
    rotr r32, r32, r32, #9
    xor r32, ^r32, r31
    rotr r32, r32, r32, #11
    xor r32, ^r32, r31
    rotr r32, r32, r32, #2
    xor r41, r31, r24
    and r40, r41, ^r40
    xor r40, r24, ^r40
    iadd r30, r30, ^r32
    iadd r30, r30, ^r40
    ; round 18
    or r32, r11, r11
    rotr r32, r32, r32, #11
    xor r32, ^r32, r11
    rotr r32, r32, r32, #7
    shr r33, r11, #3
    xor r32, ^r32, ^r33
    or r33, r8, r8
    rotr r33, r33, r33, #2
    xor r33, ^r33, r8
    rotr r33, r33, r33, #17
    shr r34, r8, #10
    xor r33, ^r33, ^r34
    iadd r10, r10, ^r32
    iadd r10, r10, r19
    iadd r10, r10, ^r33
    or r32, r26, r26
    rotr r32, r32, r32, #14
    xor r32, ^r32, r26
    rotr r32, r32, r32, #5
    xor r32, ^r32, r26
    rotr r32, r32, r32, #6
    xor r33, r27, r28
    and r33, r26, ^r33
    xor r33, r28, ^r33
    iadd r29, r29, ^r32
    iadd r29, r29, ^r33
    mov_imm r32, #0xfc19dc6
    iadd r29, r29, ^r32
    iadd r29, r29, r10
    iadd r25, r25, r29
    or r32, r30, r30
    rotr r32, r32, r32, #9
    xor r32, ^r32, r30
    rotr r32, r32, r32, #11
    xor r32, ^r32, r30
    rotr r32, r32, r32, #2
    xor r40, r30, r31
    and r41, r40, ^r41
    xor r41, r31, ^r41
    iadd r29, r29, ^r32
    iadd r29, r29, ^r41
    ; round 19
    or r32, r12, r12
    rotr r32, r32, r32, #11
    xor r32, ^r32, r12
    rotr r32, r32, r32, #7
    shr r33, r12, #3
    xor r32, ^r32, ^r33
    or r33, r9, r9
    rotr r33, r33, r33, #2
    xor r33, ^r33, r9
    rotr r33, r33, r33, #17
    shr r34, r9, #10
    xor r33, ^r33, ^r34
    iadd r11, r11, ^r32
    iadd r11, r11, r20
    iadd r11, r11, ^r33
    or r32, r25, r25
    rotr r32, r32, r32, #14
    xor r32, ^r32, r25
    rotr r32, r32, r32, #5
    xor r32, ^r32, r25
    rotr r32, r32, r32, #6
    xor r33, r26, r27
    and r33, r25, ^r33
    xor r33, r27, ^r33
    iadd r28, r28, ^r32
    iadd r28, r28, ^r33
    mov_imm r32, #0x240ca1cc
    iadd r28, r28, ^r32
    iadd r28, r28, r11
    iadd r24, r24, r28
    or r32, r29, r29
    rotr r32, r32, r32, #9
    xor r32, ^r32, r29
    rotr r32, r32, r32, #11
    xor r32, ^r32, r29
    rotr r32, r32, r32, #2
    xor r41, r29, r30
    and r40, r41, ^r40
    xor r40, r30, ^r40
    iadd r28, r28, ^r32
    iadd r28, r28, ^r40
    ; round 20
    or r32, r13, r13
    rotr r32, r32, r32, #11
    xor r32, ^r32, r13
    rotr r32, r32, r32, #7
    shr r33, r13, #3
    xor r32, ^r32, ^r33
    or r33, r10, r10
    rotr r33, r33, r33, #2
    xor r33, ^r33, r10
    rotr r33, r33, r33, #17
    shr r34, r10, #10
    xor r33, ^r33, ^r34
    iadd r12, r12, ^r32
    iadd r12, r12, r21
    iadd r12, r12, ^r33
    or r32, r24, r24
    rotr r32, r32, r32, #14
    xor r32, ^r32, r24
    rotr r32, r32, r32, #5
    xor r32, ^r32, r24
    rotr r32, r32, r32, #6
    xor r33, r25, r26
    and r33, r24, ^r33
    xor r33, r26, ^r33
    iadd r27, r27, ^r32
    iadd r27, r27, ^r33
    mov_imm r32, #0x2de92c6f
    iadd r27, r27, ^r32
    iadd r27, r27, r12
    iadd r31, r31, r27
    or r32, r28, r28
    rotr r32, r32, r32, #9
    xor r32, ^r32, r28
    rotr r32, r32, r32, #11
    xor r32, ^r32, r28
    rotr r32, r32, r32, #2
    xor r40, r28, r29
    and r41, r40, ^r41
    xor r41, r29, ^r41
    iadd r27, r27, ^r32
    iadd r27, r27, ^r41
    ; round 21
    or r32, r14, r14
    rotr r32, r32, r32, #11
    xor r32, ^r32, r14
    rotr r32, r32, r32, #7
    shr r33, r14, #3
    xor r32, ^r32, ^r33
    or r33, r11, r11
    rotr r33, r33, r33, #2
    xor r33, ^r33, r11
    rotr r33, r33, r33, #17
    shr r34, r11, #10
    xor r33, ^r33, ^r34
    iadd r13, r13, ^r32
    iadd r13, r13, r22
    iadd r13, r13, ^r33
    or r32, r31, r31
    rotr r32, r32, r32, #14
    xor r32, ^r32, r31
    rotr r32, r32, r32, #5
    xor r32, ^r32, r31
    rotr r32, r32, r32, #6
    xor r33, r24, r25
    and r33, r31, ^r33
    xor r33, r25, ^r33
    iadd r26, r26, ^r32
    iadd r26, r26, ^r33
    mov_imm r32, #0x4a7484aa
    iadd r26, r26, ^r32
    iadd r26, r26, r13
    iadd r30, r30, r26
    or r32, r27, r27
    rotr r32, r32, r32, #9
    xor r32, ^r32, r27
    rotr r32, r32, r32, #11
    xor r32, ^r32, r27
    rotr r32, r32, r32, #2
    xor r41, r27, r28
    and r40, r41, ^r40
    xor r40, r28, ^r40
    iadd r26, r26, ^r32
    iadd r26, r26, ^r40
    ; round 22
    or r32, r15, r15
    rotr r32, r32, r32, #11
    xor r32, ^r32, r15
    rotr r32, r32, r32, #7
    shr r33, r15, #3
    xor r32, ^r32, ^r33
    or r33, r12, r12
    rotr r33, r33, r33, #2
    xor r33, ^r33, r12
    rotr r33, r33, r33, #17
    shr r34, r12, #10
    xor r33, ^r33, ^r34
    iadd r14, r14, ^r32
    iadd r14, r14, r23
    iadd r14, r14, ^r33
    or r32, r30, r30
    rotr r32, r32, r32, #14
    xor r32, ^r32, r30
    rotr r32, r32, r32, #5
    xor r32, ^r32, r30
    rotr r32, r32, r32, #6
    xor r33, r31, r24
    and r33, r30, ^r33
    xor r33, r24, ^r33
    iadd r25, r25, ^r32
    iadd r25, r25, ^r33
    mov_imm r32, #0x5cb0a9dc
    iadd r25, r25, ^r32
    iadd r25, r25, r14
    iadd r29, r29, r25
    or r32, r26, r26
    rotr r32, r32, r32, #9
    xor r32, ^r32, r26
    rotr r32, r32, r32, #11
    xor r32, ^r32, r26
    rotr r32, r32, r32, #2
    xor r40, r26, r27
    and r41, r40, ^r41
    xor r41, r27, ^r41
    iadd r25, r25, ^r32
    iadd r25, r25, ^r41
    ; round 23
    or r32, r16, r16
    rotr r32, r32, r32, #11
    xor r32, ^r32, r16
    rotr r32, r32, r32, #7
    shr r33, r16, #3
    xor r32, ^r32, ^r33
    or r33, r13, r13
    rotr r33, r33, r33, #2
    xor r33, ^r33, r13
    rotr r33, r33, r33, #17
    shr r34, r13, #10
    xor r33, ^r33, ^r34
    iadd r15, r15, ^r32
    iadd r15, r15, r8
    iadd r15, r15, ^r33
    or r32, r29, r29
    rotr r32, r32, r32, #14
    xor r32, ^r32, r29
    rotr r32, r32, r32, #5
    xor r32, ^r32, r29
    rotr r32, r32, r32, #6
    xor r33, r30, r31
    and r33, r29, ^r33
    xor r33, r31, ^r33
    iadd r24, r24, ^r32
    iadd r24, r24, ^r33
    mov_imm r32, #0x76f988da
    iadd r24, r24, ^r32
    iadd r24, r24, r15
    iadd r28, r28, r24
    or r32, r25, r25
    rotr r32, r32, r32, #9
    xor r32, ^r32, r25
    rotr r32, r32, r32, #11
    xor r32, ^r32, r25
    rotr r32, r32, r32, #2
    xor r41, r25, r26
    and r40, r41, ^r40
    xor r40, r26, ^r40
    iadd r24, r24, ^r32
    iadd r24, r24, ^r40
    device_store.i32x4 r24:r27, r4:r5, r0, scale=lsl4
    device_store.i32x4 r28:r31, r4:r5, r0, scale=lsl4, offset=16
    device_store.i32x4 r8:r11, r2:r3, r1, scale=lsl4
    device_store.i32x4 r12:r15, r2:r3, r1, scale=lsl4, offset=16
    stop
