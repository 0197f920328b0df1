/*
 * As fuzz_native_rules, with the rules of the other processor.
 */
#define NATIVE_AARCH64
#include "fuzz_native_rules.c"
