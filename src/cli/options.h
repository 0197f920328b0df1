/*
 * options - parses command-line options by a table.
 *
 * Accepts --name, --name=value, --name value, -n, -n value, -nvalue and combined flags (-qw).
 * Options may follow operands, unless the command forbids that; "--" ends them. Prints nothing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

struct option {
	const char *name;     /* without the dashes; NULL ends a table */
	char letter;          /* 0: none */
	const char *argument; /* name of its value in the usage; NULL: a flag */
	const char *help;
	/* Stores the value (NULL for a flag) at place, which is at offset in the settings. */
	int (*set)(const struct option *option, void *place, const char *value,
		   struct error *err);
	size_t offset;
};

/* For struct option.set: place is a bool, or a const char * that borrows the value. */
int option_set_flag(const struct option *option, void *place, const char *value,
		    struct error *err);
int option_set_string(const struct option *option, void *place, const char *value,
		      struct error *err);
/* Reads an integer from min to max; the error shows both. */
int option_read_number(const struct option *option, const char *value, unsigned long min,
		       unsigned long max, unsigned long *out_number, struct error *err);
/*
 * For struct option.set: place is a uint64_t, the value a size of at least 1 MiB, as in 500M.
 */
int option_set_size(const struct option *option, void *place, const char *value,
		    struct error *err);
/*
 * The index of value in words, which ends with NULL. -EINVAL and a sentence: it is not there.
 */
int option_find_word(const struct option *option, const char *const *words, const char *value,
		     struct error *err);
/* -EINVAL with "option '--sort' takes self or total, not 'x'"; words ends with NULL. */
int option_refuse_word(const struct option *option, const char *const *words, const char *value,
		       struct error *err);

struct options_result {
	char **operands; /* NULL-terminated; the strings are the arguments' */
	bool wants_help; /* --help or -h was given: later arguments were not parsed */
};

/*
 * command: its name, for sentences about unknown options. -EINVAL and a sentence. On success
 * the caller frees the operands.
 */
int options_parse(const char *command, const struct option *options, char **arguments,
		  bool stops_at_operand, void *settings, struct options_result *out_result,
		  struct error *err);
