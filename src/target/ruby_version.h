/*
 * ruby_version - which CRuby a file is, by what it says of itself.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct error;

/* Room for the longest version there is: "3.10.12preview10". */
#define RUBY_VERSION_SIZE 24

/* 3.1.2 is 0x030102. */
#define RUBY_VERSION_MAJOR(version) ((version) >> 16)
#define RUBY_VERSION_MINOR(version) ((version) >> 8 & 0xff)
#define RUBY_VERSION_PATCH(version) ((version)&0xff)

struct ruby_version {
	uint32_t number;
	bool is_release; /* no dev, preview or rc */
	char text[RUBY_VERSION_SIZE];
};

/* 0, or a negative errno and a sentence when it is none, or contradicts itself. */
int ruby_version_read(const struct elf_file *elf, struct ruby_version *out_version,
		      struct error *err);
/* "3.1.2" -> 0x030102; 0: that is no version. */
uint32_t ruby_version_parse(const char *text);
