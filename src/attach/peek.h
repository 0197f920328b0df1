/*
 * peek - reads and writes memory of another process: all bytes, or -errno.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int peek(pid_t pid, uint64_t address, void *buffer, size_t bytes);
int poke(pid_t pid, uint64_t address, const void *buffer, size_t bytes);
