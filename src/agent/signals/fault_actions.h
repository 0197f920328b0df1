/*
 * fault_actions - keeps the program's actions for SIGSEGV and SIGBUS, while the kernel has ours.
 *
 *   the program has     the kernel has                    a signal
 *   a handler           ours, with its flags and mask     gets to it by a jump, on the same stack
 *   the default         ours                              kills where it came
 *   SIG_IGN             SIG_IGN                           is dropped; no load of ours may fault
 *
 * The agent itself does SA_RESETHAND, when the handler begins.  sigaction() and its like report
 * what the program set (actions.c).
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/types.h"

struct kernel_action;

#define FAULT_SIGNALS 2
extern const int fault_signals[FAULT_SIGNALS];

/* The kernel's handler (faults.c). */
void faults_entry(void);

/* Saves the program's actions and installs ours; false: the kernel refused. */
bool fault_actions_begin(void);
/* Whether the program's actions are saved here: from then on until they are given back. */
bool fault_actions_are_kept(void);
/* Whether this is a signal whose action in the kernel is ours. */
bool fault_actions_hold(int signal);
bool fault_actions_is_ours(const struct kernel_action *action);
/* The program's action. */
void fault_actions_read(int signal, struct sigaction *out_action);
/* The action for a signal that came; with SA_RESETHAND, it is the default from now on. */
void fault_actions_take(int signal, struct sigaction *out_action);
/* rt_sigaction(2). */
long fault_actions_set_in_kernel(int signal, const struct kernel_action *action,
				 struct kernel_action *out_old);
/* sigaction(2) on the program's actions; masks are as the kernel has them. */
int fault_actions_set(int signal, const struct sigaction *wanted, struct sigaction *out_old);
/* In a child of fork, as signals_take_over(). */
void fault_actions_take_over(void);
/* Gives the kernel the program's actions. */
void fault_actions_give_back(void);
