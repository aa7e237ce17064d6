; SPDX-License-Identifier: MIT
; Yardstick of prefix_sum.comp: inclusive scan of 256 elements in shared memory
; Two copies of the data at words 128 and 512, zeros in front of each..
; Checked: 2 workgroups of random words against a cumulative sum, with the totals.
; 80 instructions; 1280 executed by all subgroups of 2 workgroups of 256.
    get_sr r0, %global_id_x
    get_sr16 r1.l, %local_index
    zext16 r1
    device_load.i32x2 r2:r3, u0:u1, none, slot=1           ; source
    device_load.i32x2 r6:r7, u0:u1, none, offset=16, slot=1 ; target
    device_load.i32x2 r8:r9, u0:u1, none, offset=32, slot=1 ; totals
    device_load.i32 r4, r2:r3, r0, wait=1, slot=1    ; sum
    mov_imm r5, #128
    and r10, r1, r5
    iadd r10, r10, r10
    iadd r10, r10, r1
    mov_imm r11, #0
    threadgroup_store ^r11, u4:u5, ^r10.l
    iadd r10, r1, r5                                 ; this lane's word in the first copy
    mov_imm r12, #384
    iadd r12, r12, r10                               ; in the second
    or r11, r4, r4, wait=1
    threadgroup_store ^r11, u4:u5, r10.l
    barrier.threadgroup
    mov_imm r14, #1
    isub r14, r10, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    or r11, r4, r4
    threadgroup_store ^r11, u4:u5, r12.l
    barrier.threadgroup
    mov_imm r14, #2
    isub r14, r12, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    or r11, r4, r4
    threadgroup_store ^r11, u4:u5, r10.l
    barrier.threadgroup
    mov_imm r14, #4
    isub r14, r10, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    or r11, r4, r4
    threadgroup_store ^r11, u4:u5, r12.l
    barrier.threadgroup
    mov_imm r14, #8
    isub r14, r12, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    or r11, r4, r4
    threadgroup_store ^r11, u4:u5, r10.l
    barrier.threadgroup
    mov_imm r14, #16
    isub r14, r10, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    or r11, r4, r4
    threadgroup_store ^r11, u4:u5, r12.l
    barrier.threadgroup
    mov_imm r14, #32
    isub r14, r12, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    or r11, r4, r4
    threadgroup_store ^r11, u4:u5, r10.l
    barrier.threadgroup
    mov_imm r14, #64
    isub r14, r10, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    or r11, r4, r4
    threadgroup_store ^r11, u4:u5, r12.l
    barrier.threadgroup
    mov_imm r14, #128
    isub r14, r12, ^r14
    threadgroup_load r13, u4:u5, ^r14.l, slot=6
    iadd r4, r4, ^r13, wait=6
    device_store.i32 r4, r6:r7, r0
    get_sr r0, %workgroup_id_x
    mov_imm r2, #255
    pcmp.ieq P0, r1, r2
    push.if P0
    device_store.i32 r4, r8:r9, r0
    pop.if
    stop
