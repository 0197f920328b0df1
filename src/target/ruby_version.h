/* ruby_version - determines the version of CRuby in a file, from its constants. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct error;

/* Enough for the longest version: "3.10.12preview10". */
#define RUBY_VERSION_SIZE 24

/* 3.1.2 is 0x030102. */
#define RUBY_VERSION_MAJOR(version) ((version) >> 16)
#define RUBY_VERSION_MINOR(version) ((version) >> 8 & 0xff)
#define RUBY_VERSION_PATCH(version) ((version)&0xff)

struct ruby_version {
	uint32_t number;
	bool is_release; /* not dev, preview or rc */
	char text[RUBY_VERSION_SIZE];
};

/* 0, or a negative errno and a sentence if there is no version, or a contradictory one. */
int ruby_version_read(const struct elf_file *elf, struct ruby_version *out_version,
		      struct error *err);
/* "3.1.2" to 0x030102; 0: not a version. */
uint32_t ruby_version_parse(const char *text);
