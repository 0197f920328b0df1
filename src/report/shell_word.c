#include "report/shell_word.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

void shell_word_add(struct text *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%^";
	bool is_plain = *word && word[strspn(word, plain)] == '\0';

	if (!is_plain)
		text_add(text, "'");
	for (; *word; word++) {
		size_t len = strcspn(word, "'");
		text_add_bytes(text, word, len);
		word += len;
		if (!*word)
			break;
		text_add(text, "'\\''");
	}
	if (!is_plain)
		text_add(text, "'");
}
