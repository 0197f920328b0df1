/* machine - checks what this machine and its settings allow a recorder. */
#pragma once

struct checks;

/* Checks the kernel, processors, the trigger, system time, and restrictions of this process. */
void machine_check(struct checks *checks);
