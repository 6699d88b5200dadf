; The name of an out-of-line member is qualified (`Foo::run`): what stands before the last `::` is its parent.
(function_definition declarator: (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator
  declarator: [(identifier) (field_identifier) (qualified_identifier)] @name)))) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(function_definition declarator: (operator_cast) @name) @function
(declaration declarator: (function_declarator declarator: [
  (identifier) (destructor_name) (operator_name)] @name)) @prototype
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @prototype
(declaration declarator: (reference_declarator (function_declarator declarator: [
  (identifier) (operator_name)] @name))) @prototype
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)) @prototype
(field_declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (field_identifier) @name))) @prototype
(field_declaration declarator: (reference_declarator
  (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @prototype
(class_specifier name: (_) @name body: (_)) @class
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(namespace_definition name: (_) @name) @module
(concept_definition name: (identifier) @name) @type
(alias_declaration name: (type_identifier) @name) @type
(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @field
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator
  declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(declaration declarator: (identifier) @name) @variable
(declaration declarator: (pointer_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (array_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (init_declarator declarator: [(identifier) (qualified_identifier)] @name)) @variable
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))) @variable
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))) @variable
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(lambda_expression) @local
