/*
 * Reads texts from standard input and prints their trees or the captures of a query.
 *
 *   print-trees              each text as a line with its length in bytes, and the bytes
 *   print-trees QUERY.scm    the captures of the query in each text
 *
 * A node is a line: depth, `+` (named), `-` (anonymous), `!` (error) or `?` (missing), start, end, type. A capture is a line: start, end, name.
 * A text ends with an empty line. Exit code 2: the query is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_ngraph(void);

static char *read_whole(const char *path, uint32_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) exit(2);
  fseek(file, 0, SEEK_END);
  *length = (uint32_t)ftell(file);
  rewind(file);
  char *text = malloc(*length + 1);
  if (fread(text, 1, *length, file) != *length) exit(2);
  fclose(file);
  return text;
}

static void print_nodes(TSTree *tree) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  for (;;) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    const char *field = ts_tree_cursor_current_field_name(&cursor);
    char kind = ts_node_is_error(node) ? '!' : ts_node_is_missing(node) ? '?' : ts_node_is_named(node) ? '+' : '-';
    printf("%u %c %u %u %s %s\n", ts_tree_cursor_current_depth(&cursor), kind, ts_node_start_byte(node), ts_node_end_byte(node),
           ts_node_type(node), field == NULL ? "" : field);
    if (ts_tree_cursor_goto_first_child(&cursor)) continue;
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        ts_tree_cursor_delete(&cursor);
        return;
      }
    }
  }
}

static bool is_text(TSQuery *query, TSQueryPredicateStep step, TSNode node, const char *text) {
  uint32_t length, start = ts_node_start_byte(node);
  const char *value = ts_query_string_value_for_id(query, step.value_id, &length);
  return length == ts_node_end_byte(node) - start && strncmp(value, text + start, length) == 0;
}

/* `#eq?` and `#any-of?`: the text of a capture is one of the strings. Other predicates hold. */
static bool predicates_hold(TSQuery *query, TSQueryMatch match, const char *text) {
  uint32_t count, length;
  const TSQueryPredicateStep *steps = ts_query_predicates_for_pattern(query, match.pattern_index, &count);
  for (uint32_t at = 0; at < count; at++) {
    const char *name = ts_query_string_value_for_id(query, steps[at].value_id, &length);
    bool compares = strcmp(name, "eq?") == 0 || strcmp(name, "any-of?") == 0;
    uint32_t captured = at + 1;
    bool holds = false;
    for (at += 2; at < count && steps[at].type != TSQueryPredicateStepTypeDone; at++)
      for (uint16_t index = 0; compares && index < match.capture_count; index++)
        if (match.captures[index].index == steps[captured].value_id && is_text(query, steps[at], match.captures[index].node, text))
          holds = true;
    if (compares && !holds) return false;
  }
  return true;
}

static void print_captures(TSTree *tree, TSQuery *query, const char *text) {
  TSQueryCursor *cursor = ts_query_cursor_new();
  ts_query_cursor_exec(cursor, query, ts_tree_root_node(tree));
  TSQueryMatch match;
  uint32_t index;
  while (ts_query_cursor_next_capture(cursor, &match, &index)) {
    if (!predicates_hold(query, match, text)) continue;
    TSQueryCapture capture = match.captures[index];
    uint32_t length;
    const char *name = ts_query_capture_name_for_id(query, capture.index, &length);
    printf("%u %u %s\n", ts_node_start_byte(capture.node), ts_node_end_byte(capture.node), name);
  }
  ts_query_cursor_delete(cursor);
}

int main(int count, char **arguments) {
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, tree_sitter_ngraph())) return 2;
  TSQuery *query = NULL;
  if (count > 1) {
    uint32_t length, at;
    TSQueryError error;
    char *source = read_whole(arguments[1], &length);
    query = ts_query_new(tree_sitter_ngraph(), source, length, &at, &error);
    if (query == NULL) {
      fprintf(stderr, "%s: error %d at byte %u\n", arguments[1], error, at);
      return 2;
    }
  }
  unsigned length;
  while (scanf("%u", &length) == 1) {
    getchar();
    char *text = malloc(length + 1);
    if (fread(text, 1, length, stdin) != length) return 2;
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
    if (query == NULL) print_nodes(tree);
    else print_captures(tree, query, text);
    puts("");
    ts_tree_delete(tree);
    free(text);
  }
  return 0;
}
