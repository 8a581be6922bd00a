/** Root device hints whose values are text, as both Ironic and the agent know them (IPA's source). */
export const TEXT_HINTS = [
  'model',
  'wwn',
  'serial',
  'vendor',
  'wwn_with_extension',
  'wwn_vendor_extension',
  'name',
  'hctl',
  'by_path',
  'tran',
] as const
export type TextHint = (typeof TEXT_HINTS)[number]
