; A definition is captured under its kind, its name as @name. Where two patterns meet the same name, the earlier wins.
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(assignment left: (identifier) @name) @variable
(assignment left: [(pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @variable
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @type
(decorated_definition) @outer
