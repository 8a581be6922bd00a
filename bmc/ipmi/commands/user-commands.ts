import { dialectOf } from '../../dialects/index.js'
import { isSameSecret } from '../../../base/runtime/index.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { MAX_IPMI_NAME_LENGTH, MAX_IPMI_PASSWORD_LENGTH } from '../ipmi-accounts.js'
import { PRIVILEGE } from '../protocol/privilege.js'
import { checkChannel } from './app-commands.js'
import { fixedText, NET_FN, type IpmiCall, type IpmiCommand } from './command.js'

/** User 1 has no name, by the specification, and is disabled here; user 2 is the BMC's account. */
const ACCOUNT = 2
const NO_ACCESS = 0x0f

/** Completion codes of Set User Password. */
const WRONG_PASSWORD = 0x80
const WRONG_PASSWORD_SIZE = 0x81

/** @throws CommandFailed for a user that there cannot be */
function userIn({ bmc: { machine } }: IpmiCall, byte: number): number {
  const user = byte & 0x3f
  if (user === 0 || user > dialectOf(machine.spec).ipmi.users) throw new IpmiCommandError(COMPLETION.invalidField)
  return user
}

function access(call: IpmiCall): number[] {
  const { bmc, data } = call
  const { machine, accounts } = bmc
  checkChannel(data[0]!)
  const isAccount = userIn(call, data[1]!) === ACCOUNT && accounts.of(machine) !== undefined
  const [status, limit] = isAccount ? [0x40, 0x30 | PRIVILEGE.administrator] : [0x80, NO_ACCESS]
  // One user is enabled, and one has a name that cannot be changed: none.
  return [dialectOf(machine.spec).ipmi.users, status | (accounts.of(machine) ? 1 : 0), 1, limit]
}

function name(call: IpmiCall): number[] {
  const { bmc, data } = call
  const { machine, accounts } = bmc
  const own = userIn(call, data[0]!) === ACCOUNT ? accounts.of(machine)?.username : undefined
  return fixedText(own ?? '', MAX_IPMI_NAME_LENGTH)
}

const textIn = (bytes: Buffer): string => {
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8')
}

/** There is one account a BMC: other users cannot be made. */
function account({ bmc: { machine, accounts } }: IpmiCall, user: number): { username: string; password: string } {
  const own = accounts.of(machine)
  if (user !== ACCOUNT || !own) throw new IpmiCommandError(COMPLETION.notInPresentState)
  return { ...own }
}

async function setName(call: IpmiCall): Promise<void> {
  const { bmc, data } = call
  const own = account(call, userIn(call, data[0]!))
  const username = textIn(data.subarray(1))
  if (username === '') throw new IpmiCommandError(COMPLETION.invalidField)
  await bmc.accounts.set(bmc.machine, { ...own, username })
}

async function setPassword(call: IpmiCall): Promise<void> {
  const { bmc, data } = call
  const own = account(call, userIn(call, data[0]!))
  const size = (data[0]! & 0x80) !== 0 ? MAX_IPMI_PASSWORD_LENGTH : 16
  const password = data.subarray(2)
  switch (data[1]! & 3) {
    case 0:
      // The only user cannot be disabled: no caller could enable it again.
      throw new IpmiCommandError(COMPLETION.notInPresentState)
    case 1:
      return
    case 2:
      if (password.length !== size) throw new IpmiCommandError(COMPLETION.wrongLength)
      return bmc.accounts.set(bmc.machine, { ...own, password: textIn(password) })
    default: {
      const isStoredLong = Buffer.byteLength(own.password) > 16
      if (password.length !== size || isStoredLong !== size > 16) throw new IpmiCommandError(WRONG_PASSWORD_SIZE)
      if (!isSameSecret(textIn(password), own.password)) throw new IpmiCommandError(WRONG_PASSWORD)
    }
  }
}

export const USER_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get User Access',
    netFn: NET_FN.app,
    command: 0x44,
    call: 'read accounts',
    privilege: 'operator',
    length: [2, 2],
    run: access,
  },
  {
    title: 'Set User Name',
    netFn: NET_FN.app,
    command: 0x45,
    call: 'change accounts',
    privilege: 'administrator',
    length: [17, 17],
    run: setName,
  },
  {
    title: 'Get User Name',
    netFn: NET_FN.app,
    command: 0x46,
    call: 'read accounts',
    privilege: 'operator',
    length: [1, 1],
    run: name,
  },
  {
    title: 'Set User Password',
    netFn: NET_FN.app,
    command: 0x47,
    call: 'change accounts',
    privilege: 'administrator',
    length: [2, 22],
    run: setPassword,
  },
]
