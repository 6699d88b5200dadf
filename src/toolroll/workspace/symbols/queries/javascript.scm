(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(class_body (method_definition name: (_) @name) @method)
(class_body (field_definition property: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method)
(class_body (field_definition property: (_) @name) @field)
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class !name)) @class
(variable_declarator name: (identifier) @name) @variable
; Objects that a variable, a module or an assignment is given: their functions are what other files call.
(variable_declarator value: (object (method_definition name: (_) @name) @method))
(variable_declarator value: (object (pair key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method))
(assignment_expression right: (object (method_definition name: (_) @name) @method))
(assignment_expression right: (object (pair key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method))
(export_statement value: (object (method_definition name: (_) @name) @method))
(export_statement value: (object (pair key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method))
(assignment_expression
  left: (member_expression object: (_) @parent property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @function
; What is inside of a function without a name is local to it.
(arrow_function body: (statement_block)) @local
(function_expression) @local
(class_static_block) @local
; Names that are passed on by a statement of their own.
(export_specifier name: (_) @exported)
(export_statement value: (identifier) @exported)
(assignment_expression left: (member_expression) right: (object (shorthand_property_identifier) @exported))
