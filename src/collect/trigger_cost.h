/*
 * trigger_cost - what one trap costs on this machine, apart from what the handler does.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Measures it in a child that computes for some tens of milliseconds with and without an
 * empty handler being called: ns per trap, 0 if it cannot be measured.
 */
uint64_t trigger_cost_measure(bool has_sigtrap, bool is_user_mode_only);
