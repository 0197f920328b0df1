/* python_version - determines the version of CPython in a file, from the file itself. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Enough for the longest version: "3.15.0rc12". */
#define PYTHON_VERSION_SIZE 24

/* As PY_VERSION_HEX: 0x030b02f0 is 3.11.2, its last digits the release level and serial. */
#define PYTHON_VERSION_MAJOR(version) ((version) >> 24)
#define PYTHON_VERSION_MINOR(version) ((version) >> 16 & 0xff)
#define PYTHON_VERSION_LEVEL(version) ((version) >> 4 & 0xf)
#define PYTHON_LEVEL_CANDIDATE        0xcU
#define PYTHON_LEVEL_FINAL            0xfU

/*
 * The version: Py_Version's value (from 3.11 on), else the text with which Py_GetVersion()
 * begins its result; 0 if neither is found, or two differ.
 */
uint32_t python_version_read(struct elf_file *elf);
/* "3.11.2", "3.15.0b1" to PY_VERSION_HEX; 0: not a version. */
uint32_t python_version_parse(const char *text);
void python_version_format(uint32_t version, char out_text[PYTHON_VERSION_SIZE]);
/*
 * Whether the library's own name ("libpython3.8.so.1.0") has another version. Files without a
 * version in their name never contradict.
 */
bool python_version_contradicts(const struct elf_file *elf, uint32_t version);
