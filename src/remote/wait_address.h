/* wait_address - the address that a waiting thread's system call was given. */
#pragma once
#include <stdint.h>

struct remote;
struct text;

/*
 * Adds the struct sockaddr of len bytes at that address of the process's memory,
 * "127.0.0.1:5432", "[::1]:80", "/run/app.sock" or "@abstract"; nothing if it is of another
 * family, or cannot be read.
 */
void wait_address_add(struct remote *remote, uint64_t at, uint64_t len, struct text *out);
