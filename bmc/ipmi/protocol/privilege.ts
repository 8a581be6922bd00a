/** Privilege levels; */
export const PRIVILEGE = { callback: 1, user: 2, operator: 3, administrator: 4 } as const

export type PrivilegeName = keyof typeof PRIVILEGE
