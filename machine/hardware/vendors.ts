/** True if a machine is one of Dell's, whose BMC is an iDRAC. */
export const isDell = ({ manufacturer }: { manufacturer: string }): boolean => /^dell\b/i.test(manufacturer)
