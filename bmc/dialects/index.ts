/** The dialects of BMCs as data. */
export { ERRORS } from './errors.js'
export { dialectOfAddress, dialectOfProduct } from './choose-dialect.js'
export type {
  BmcDialect,
  DialectAttribute,
  DialectBoot,
  DialectChanges,
  DialectIpmi,
  DialectMedia,
  DialectSlot,
  FirmwareMaker,
  FurtherMember,
  RefusedResource,
} from './dialect.js'
export { RESET_TYPES } from './dialect.js'
export { DIALECT_SCHEMA } from './dialect-schema.js'
export type { DialectName } from './dialect-name.js'
export { BMC_DIALECTS, isDialectName } from './known-dialects.js'
export { dialectOf, readOwnDialect, type DialectChoice, type OwnDialect } from './own-dialect.js'
