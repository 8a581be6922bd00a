/** Machines made of dumps of BMCs, and dumps made of BMCs. */
export { importDump, IMPORTED_FILES, writeImport, type ImportedDump } from './import-dump.js'
export { checkedAddress, takeDump, writeTaken, type TakeDumpOptions, type TakenDump } from './take-dump.js'
