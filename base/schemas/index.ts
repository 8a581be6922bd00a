/** JSON Schemas of the project: compiled in one way, and their errors in words. */
export { schemaCheck, type SchemaCheck, SchemaCompiler, type SchemaCompilerOptions } from './schema-check.js'
export { schemaProblem } from './schema-problem.js'
