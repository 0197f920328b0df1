/* utf8 - decodes UTF-8 and checks its validity (RFC 3629: no overlong forms, no surrogates). */
#pragma once
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character that bytes begin with: returns the length of its sequence (1 to 4) and
 * stores it in *out_character (may be NULL); 0 if they begin with no valid sequence.
 */
size_t utf8_decode(const char *bytes, size_t len, uint32_t *out_character);
/* The largest length up to len that does not end within a sequence. */
size_t utf8_cut(const char *bytes, size_t len);
