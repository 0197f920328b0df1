/* arch - picks the file for this machine. */
#pragma once

#if defined(__x86_64__)
#include "vantage/agent/arch_x86_64.h"
#elif defined(__aarch64__)
#include "vantage/agent/arch_aarch64.h"
#else
#error "the agent has no file for this machine"
#endif
