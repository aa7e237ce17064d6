; SPDX-License-Identifier: MIT
; Yardstick of saxpy.comp: y = a * x + y.
; Checked: 192 elements, n = 171, all bits, with a * x + y in double precision rounded once; elements from n on untouched.
; 13 instructions; 78 executed by all subgroups of 3 workgroups of 64.
    get_sr r0, %global_id_x
    device_load.i32x2 r2:r3, u2:u3, none, slot=1           ; a, n
    device_load.i32x2 r4:r5, u0:u1, none, slot=1           ; x
    device_load.i32x2 r6:r7, u0:u1, none, offset=16, slot=1 ; y
    or r3, r3, r3, wait=1                            ; compares cannot wait
    pcmp.ult P0, r0, r3
    push.if P0
    device_load.i32 r8, r4:r5, r0, slot=1
    device_load.i32 r9, r6:r7, r0, slot=1
    fma r9, r2, r8, r9, wait=1
    device_store.i32 r9, r6:r7, r0
    pop.if
    stop
