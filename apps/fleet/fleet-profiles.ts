import { packageFile } from '../../base/runtime/index.js'

/** Hardware of a rack as it grew: several vendors, generations and disks, and one machine in a hundred with a defect. */
export const MIXED_RACK = packageFile('images/mixed-rack.yaml')
