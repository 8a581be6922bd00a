/** Hardware files made of other descriptions of machines, and other descriptions of a lab's machines. */
export { ERRORS } from './errors.js'
export { EXPORT_FORMATS, type ExportFormat } from './export/export-hardware.js'
export { importHardware } from './import-hardware.js'
