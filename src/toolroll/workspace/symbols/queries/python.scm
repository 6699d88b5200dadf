; A definition is captured under its kind, its name as @name. Where two patterns meet the same name, the earlier wins.
; Targets that may be nested, such as `a, (b, *c) = ...`, are captured as @names: every name in them is one.
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @type
(decorated_definition) @outer
(lambda) @local
; Only where a module or a class may have them: nine of ten assignments are local, and asking for all takes twice as long.
(module (expression_statement (assignment left: [
  (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable))
(class_definition body: (block (expression_statement (assignment left: [
  (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
([(if_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (elif_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (else_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (try_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (except_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (finally_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (with_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (for_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (while_statement (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))
  (case_clause (block (expression_statement (assignment left: [
    (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)))])
(assignment right: (assignment left: [
  (identifier) @name (pattern_list) @names (tuple_pattern) @names (list_pattern) @names]) @variable)
(named_expression name: (identifier) @name) @variable
