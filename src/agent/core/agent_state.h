/*
 * agent_state - sections that keep what every new process touches of the agent on few pages.
 *
 * The constructor and children of fork write the AGENT_STATE variables and execute the AGENT_START
 * functions.  The first access to a page is a fault, 1 to 2 us; a write copies it.
 */
#pragma once

#define AGENT_STATE __attribute__((section("fathom_state")))
/* The linker puts this code before all other, next to the procedure linkage table. */
#define AGENT_START __attribute__((section(".text.hot.fathom_start")))
