/*
 * agent_state - what each new process touches of the agent, however brief it is.
 *
 * What the constructor and a child of fork write stands together, and what they execute: the
 * first access to a page in a new process is a fault, 1 to 2 us, and what is written is copied.
 */
#pragma once

#define AGENT_STATE __attribute__((section("fathom_state")))
/* The linker puts these before all other code, beside the table of calls. */
#define AGENT_START __attribute__((section(".text.hot.fathom_start")))
