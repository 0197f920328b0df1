/*
 * agent_state - where the agent's variables lie that each new process writes.
 *
 * What the constructor writes, and a child of fork, stands together: the first write to a page
 * in a new process is a fault and a copy.
 */
#pragma once

#define AGENT_STATE __attribute__((section("fathom_state")))
