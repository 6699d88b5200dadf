; A definition is captured under its kind, its name as @name. Where two patterns meet the same name, the earlier wins.
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @type
(decorated_definition) @outer
; Only where a module or a class may have them: nine of ten assignments are local, and asking for all takes twice as long.
(module (expression_statement (assignment left: [
  (identifier) @name (pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @variable))
(class_definition body: (block (expression_statement (assignment left: [
  (identifier) @name (pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @variable)))
([(if_statement (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (elif_clause (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (else_clause (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (try_statement (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (except_clause (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (with_statement (block (expression_statement (assignment left: (identifier) @name) @variable)))])
(assignment right: (assignment left: (identifier) @name) @variable)
