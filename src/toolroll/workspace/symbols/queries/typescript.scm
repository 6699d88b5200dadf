(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(class_body (method_definition name: (_) @name) @method)
(class_body (public_field_definition name: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @method)
(class_body (public_field_definition name: (_) @name) @field)
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
; After an error in the file, the type parameters of a function (`<T>(x: T) => x`) are read as a type assertion.
((variable_declarator name: (identifier) @name value: (_ (arrow_function)) @_value) @function (#match? @_value "^<"))
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
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(enum_body name: (_) @name @constant)
(enum_body (enum_assignment name: (_) @name) @constant)
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(function_signature name: (identifier) @name) @function
(class_body (method_signature name: (_) @name) @method)
(class_body (abstract_method_signature name: (_) @name) @method)
(interface_body (method_signature name: (_) @name) @method)
(interface_body (property_signature name: (_) @name) @field)
; What is inside of a function without a name is local to it.
(arrow_function body: (statement_block)) @local
(function_expression) @local
(class_static_block) @local
; Names that are passed on by a statement of their own.
(export_specifier name: (_) @exported)
(export_statement value: (identifier) @exported)
(assignment_expression left: (member_expression) right: (object (shorthand_property_identifier) @exported))
