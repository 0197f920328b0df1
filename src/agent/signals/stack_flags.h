/*
 * stack_flags - SA_ONSTACK in actions of a program that has no alternate stack.
 *
 * Each thread has an alternate stack of ours (altstack.h).  In a program that has set none
 * itself the flag has no effect without us: its handlers run on the stack they interrupt.  So
 * the kernel is given such actions without the flag, and sigaction() reports it, until the
 * program sets its first alternate stack.  From then on the kernel has the flag too; a handler
 * of a thread that has set none is then run on our stack.
 */
#pragma once
#include <stdbool.h>

/* What the kernel is to have for a signal of the program's whose action has these flags. */
int stack_flags_to_kernel(int signal, int flags);
/* The flags of the program's action, of which the kernel has these. */
int stack_flags_to_program(int signal, int flags);
/* False as long as the flag is kept from the kernel. */
bool stack_flags_are_allowed(void);
/* The program sets an alternate stack, or its actions are given back to the kernel. */
void stack_flags_allow(void);
