/*
 * stack_flags - withholds SA_ONSTACK from the kernel while the program has no alternate stack.
 *
 * Each thread has an alternate stack of ours (altstack.h).  In a program that has set none
 * itself the flag has no effect without us: its handlers run on the stack they interrupt.  So
 * the kernel is given such actions without the flag, and sigaction() reports it, until the
 * program sets its first alternate stack.  From then on the kernel has the flag too; a handler
 * of a thread that has set none is then run on our stack.
 */
#pragma once
#include <stdbool.h>

/* The flags to give the kernel where the program's action for the signal has these. */
int stack_flags_to_kernel(int signal, int flags);
/* The flags of the program's action where the kernel's has these. */
int stack_flags_to_program(int signal, int flags);
/* False as long as the flag is withheld from the kernel. */
bool stack_flags_are_allowed(void);
/* Gives the kernel the flag: the program sets an alternate stack, or gets its actions back. */
void stack_flags_allow(void);
