#include "python_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "machine_code.h"
#include "elf_file.h"

/* Py_GetVersion() has some 100 bytes. */
#define FUNCTION_MAX 4096u

static const struct {
	const char *letters;
	uint32_t level;
} levels[] = {
	{ "a", 0xa },
	{ "b", 0xb },
	{ "rc", PYTHON_LEVEL_CANDIDATE },
	{ "c", PYTHON_LEVEL_CANDIDATE }, /* 2.7 */
};

/* Parses a number of one to three digits; false if there is none. */
static bool take_number(const char **text, uint32_t *out_number)
{
	size_t digits = strspn(*text, "0123456789");

	if (digits == 0 || digits > 3)
		return false;
	*out_number = (uint32_t)strtoul(*text, NULL, 10);
	*text += digits;
	return *out_number <= 0xff;
}

static bool take_level(const char **text, uint32_t *out_level, uint32_t *out_serial)
{
	*out_level = PYTHON_LEVEL_FINAL;
	*out_serial = 0;
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		size_t len = strlen(levels[i].letters);

		if (strncmp(*text, levels[i].letters, len) != 0)
			continue;
		*text += len;
		*out_level = levels[i].level;
		return take_number(text, out_serial) && *out_serial <= 0xf;
	}
	return true;
}

/* A trailing "+" means that the source was changed after the release. */
uint32_t python_version_parse(const char *text)
{
	uint32_t major, minor, micro = 0, level, serial;

	if (!take_number(&text, &major) || *text++ != '.' || !take_number(&text, &minor))
		return 0;
	if (*text == '.' && (text++, !take_number(&text, &micro)))
		return 0;
	if (!take_level(&text, &level, &serial) || (*text == '+' ? text[1] : text[0]) != '\0')
		return 0;
	return major << 24 | minor << 16 | micro << 8 | level << 4 | serial;
}

void python_version_format(uint32_t version, char out_text[PYTHON_VERSION_SIZE])
{
	uint32_t level = PYTHON_VERSION_LEVEL(version);
	const char *letters = level == PYTHON_LEVEL_FINAL ? "" : "?";
	int len = snprintf(out_text, PYTHON_VERSION_SIZE, "%u.%u.%u",
			   PYTHON_VERSION_MAJOR(version), PYTHON_VERSION_MINOR(version),
			   version >> 8 & 0xff);

	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		if (levels[i].level == level && letters[0] == '?')
			letters = levels[i].letters;
	}
	if (letters[0] != '\0')
		snprintf(out_text + len, PYTHON_VERSION_SIZE - (size_t)len, "%s%u", letters,
			 version & 0xf);
}

/*
 * The version among the texts that the function's code refers to; 0: none, or two different
 * ones.
 */
static uint32_t version_in(struct elf_file *elf, const struct elf_file_symbol *function)
{
	size_t len = function->size < FUNCTION_MAX ? function->size : FUNCTION_MAX;
	CLEANUP(freep) uint8_t *code = xmalloc(len + 1);
	uint32_t found = 0;

	if (!elf_file_read(elf, function->address, code, len))
		return 0;
	for (size_t at = 0; at < len; at++) {
		char text[PYTHON_VERSION_SIZE];
		struct code_reference reference =
			machine_code_at(elf->machine, code, len, at, function->address);

		if (reference.kind != CODE_REFERENCE_ADDRESS ||
		    !elf_file_read_text(elf, reference.target, text, sizeof text))
			continue;
		uint32_t version = python_version_parse(text);
		if (version != 0 && found != 0 && version != found)
			return 0;
		found = version != 0 ? version : found;
	}
	return found;
}

uint32_t python_version_read(struct elf_file *elf)
{
	struct elf_file_symbol symbol;
	uint64_t version;

	if (elf_file_find_any(elf, "Py_Version", &symbol) &&
	    elf_file_read(elf, symbol.address, &version, sizeof version) &&
	    version >= 0x030b0000 && version <= UINT32_MAX)
		return (uint32_t)version;
	if (elf_file_find_any(elf, "Py_GetVersion", &symbol))
		return version_in(elf, &symbol);
	return 0;
}

bool python_version_contradicts(const struct elf_file *elf, uint32_t version)
{
	static const char prefix[] = "libpython";
	uint32_t major, minor;
	char name[64];
	const char *at = name + strlen(prefix);

	if (elf->soname == 0 || !elf_file_read_text(elf, elf->soname, name, sizeof name) ||
	    strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	if (!take_number(&at, &major) || *at++ != '.' || !take_number(&at, &minor))
		return false;
	return major != PYTHON_VERSION_MAJOR(version) || minor != PYTHON_VERSION_MINOR(version);
}
