/* other_words - translates commands and options of other profilers to fathom's. */
#pragma once

/* For an unknown command: "use 'fathom record -p PID'" for "attach"; NULL: no suggestion. */
const char *other_word_of_command(const char *name);
/* For an unknown option, with its dashes: "use '--rate HZ'" for "record" and "-F"; NULL. */
const char *other_word_of_option(const char *command, const char *option);
/* For an option's value, by its first word: "--by module" for "sort" and "dso,comm"; NULL. */
const char *other_word_of_value(const char *option, const char *value);
