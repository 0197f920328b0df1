/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * tls_variable - how to find a thread's own copy of a thread-local variable.
 */
#pragma once
#include "abi/types.h"

enum tls_means {
	TLS_NONE,
	/* At offset `place` from the thread pointer. */
	TLS_STATIC,
	/*
	 * At offset `place` in the TLS block of the module whose number is stored at address
	 * `module`.
	 */
	TLS_BY_MODULE,
};

struct tls_variable {
	u64 place;
	u64 module;
	u32 means; /* enum tls_means */
	u32 padding;
};
