/*
 * Reads the version from constants that CRuby exports (version.c): ruby_version "3.4.0",
 * ruby_api_version { 3, 4, 0 }, ruby_patchlevel (commits since the first release, -1 before
 * it), ruby_engine "ruby", and ruby_description "ruby 3.4.0preview1 (2024-05-16 …". Other
 * implementations of Ruby that load its extensions export some of them, too.
 */
#include "ruby_version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elf_file.h"

#define ENGINE "ruby"

static bool read_text(const struct elf_file *elf, const char *name, char *buffer, size_t size)
{
	struct elf_file_symbol symbol;

	return elf_file_find_any(elf, name, &symbol) &&
	       elf_file_read_text(elf, symbol.address, buffer, size);
}

static bool read_numbers(const struct elf_file *elf, const char *name, int32_t *numbers,
			 size_t count)
{
	struct elf_file_symbol symbol;

	return elf_file_find_any(elf, name, &symbol) &&
	       elf_file_read(elf, symbol.address, numbers, count * sizeof *numbers);
}

uint32_t ruby_version_parse(const char *text)
{
	uint32_t version = 0;

	for (size_t i = 0; i < 3; i++) {
		size_t digits = strspn(text, "0123456789");
		unsigned long number = strtoul(text, NULL, 10);

		if (digits == 0 || digits > 3 || number > 0xff ||
		    text[digits] != (i < 2 ? '.' : '\0'))
			return 0;
		version = version << 8 | (uint32_t)number;
		text += digits + 1;
	}
	return version;
}

/* Uses the second word of the description if it is more precise than the version's number. */
static void read_full_text(const struct elf_file *elf, struct ruby_version *version)
{
	char description[sizeof ENGINE + RUBY_VERSION_SIZE];
	const char *word = description + sizeof ENGINE;
	size_t len = strlen(version->text);

	if (!read_text(elf, "ruby_description", description, sizeof description) ||
	    strncmp(description, ENGINE " ", sizeof ENGINE) != 0 ||
	    strncmp(word, version->text, len) != 0)
		return;
	/* The name of a pre-release, of letters and digits. */
	len += strspn(word + len, "abcdefghijklmnopqrstuvwxyz0123456789");
	if (word[len] == ' ' && len < sizeof version->text)
		snprintf(version->text, sizeof version->text, "%.*s", (int)len, word);
}

int ruby_version_read(const struct elf_file *elf, struct ruby_version *out_version,
		      struct error *err)
{
	char engine[sizeof ENGINE], text[RUBY_VERSION_SIZE];
	int32_t api[3], level;

	*out_version = (struct ruby_version){ .text = "?" };
	if (read_text(elf, "ruby_engine", engine, sizeof engine) && strcmp(engine, ENGINE) != 0)
		return error_set(err, -ENOTSUP, "it is another implementation than CRuby");
	if (!read_text(elf, "ruby_version", text, sizeof text) ||
	    !read_numbers(elf, "ruby_api_version", api, 3) ||
	    !read_numbers(elf, "ruby_patchlevel", &level, 1))
		return error_set(err, -ENOTSUP, "its version cannot be found");
	out_version->number = ruby_version_parse(text);
	if (out_version->number == 0)
		return error_set(err, -ENOTSUP, "its version cannot be found");
	memcpy(out_version->text, text, sizeof text);
	out_version->is_release = level >= 0;
	if (!out_version->is_release)
		read_full_text(elf, out_version);
	/* The API's last number is 0 throughout a minor version. */
	if (api[0] != (int32_t)RUBY_VERSION_MAJOR(out_version->number) ||
	    api[1] != (int32_t)RUBY_VERSION_MINOR(out_version->number))
		return error_set(err, -ENOTSUP, "it has two different versions");
	return 0;
}
