(function_declaration name: (identifier) @name) @function
(function_declaration name: (dot_index_expression table: (_) @parent field: (identifier) @name)) @function
(function_declaration name: (method_index_expression table: (_) @parent method: (identifier) @name)) @method
(assignment_statement
  (variable_list . name: (identifier) @name) (expression_list . value: (function_definition))) @function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name))
  (expression_list . value: (function_definition))) @function
(assignment_statement (variable_list name: (identifier) @name)) @variable
(field name: (identifier) @name value: (function_definition)) @method
(function_definition) @local
