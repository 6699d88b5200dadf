(class_declaration "interface" name: (identifier) @name) @interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @enum
(class_declaration name: (identifier) @name) @class
(object_declaration name: (identifier) @name) @object
(companion_object name: (identifier) @name) @object
(enum_entry (identifier) @name) @constant
(function_declaration name: (identifier) @name) @function
(property_declaration (variable_declaration . (identifier) @name)) @variable
(class_parameter ["val" "var"] (identifier) @name) @field
(type_alias type: (identifier) @name) @type
(lambda_literal) @local
(anonymous_initializer) @local
(secondary_constructor) @local
