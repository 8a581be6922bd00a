import { opensAny } from '../access/authenticate.js'
import type { Machine } from '../../machine/index.js'
import { bool, checkPatch, oneOf, text } from '../protocol/checks.js'
import { collection, head, link, status, type Document } from '../protocol/document.js'
import { refused } from '../protocol/refusal.js'
import { ofMachine, ofService, type MachineCall, type Resource } from '../protocol/resource.js'

const ROOT = ['AccountService']
const ACCOUNTS = [...ROOT, 'Accounts']
const ROLES = [...ROOT, 'Roles']

/** The roles that the specification predefines; the account of a machine is an administrator. */
const PRIVILEGES: Readonly<Record<string, readonly string[]>> = {
  Administrator: ['Login', 'ConfigureManager', 'ConfigureUsers', 'ConfigureSelf', 'ConfigureComponents'],
  Operator: ['Login', 'ConfigureSelf', 'ConfigureComponents'],
  ReadOnly: ['Login', 'ConfigureSelf'],
}

/** Lengths of a password that an account can get. */
const PASSWORD = { shortest: 8, longest: 128 }

/** The account of a machine's BMC; its id is the machine's. */
function accountOf({ machine, service, caller }: Pick<MachineCall, 'machine' | 'service' | 'caller'>): Document {
  const { username } = service.accounts.of(machine) ?? caller!
  return {
    ...head('ManagerAccount', [...ACCOUNTS, machine.spec.id], `Account of ${machine.spec.id}`),
    UserName: username,
    Password: null,
    RoleId: 'Administrator',
    Enabled: true,
    Locked: false,
    AccountTypes: ['Redfish', 'IPMI'],
    PasswordChangeRequired: false,
    Links: { Role: link(...ROLES, 'Administrator') },
  }
}

async function change(call: MachineCall): Promise<void> {
  const { machine, service, body, caller } = call
  checkPatch(
    body,
    {
      UserName: text({ most: 16, form: /^[\w.@-]+$/, says: 'letters, digits and . _ @ -' }),
      Password: text(),
      Enabled: bool,
      RoleId: oneOf(['Administrator']),
    },
    accountOf(call),
  )
  if (body['Enabled'] === false)
    throw refused(400, 'PropertyValueError', ['Enabled'], {
      property: 'Enabled',
      resolution: 'A machine has this account only: it cannot be disabled.',
    })
  const { UserName, Password } = body as { UserName?: string; Password?: string }
  if (Password !== undefined && (Password.length < PASSWORD.shortest || Password.length > PASSWORD.longest))
    throw refused(400, 'PasswordIncorrectLength', [], {
      property: 'Password',
      resolution: `Use ${PASSWORD.shortest} to ${PASSWORD.longest} characters.`,
    })
  const before = service.accounts.of(machine) ?? caller!
  const after = { username: UserName ?? before.username, password: Password ?? before.password }
  await service.accounts.set(machine, after)
  // A BMC's sessions go on when their account gets another password.
  if (!opensAny(service, before)) service.sessions.rename(before, after)
}

const own = (machines: readonly Machine[]) => machines.map(({ spec }) => link(...ACCOUNTS, spec.id))

/** Accounts: one a machine, all with the same role. */
export const ACCOUNT_RESOURCES: readonly Resource[] = [
  ofService('/AccountService', {
    reads: 'read accounts',
    get: () => ({
      ...head('AccountService', ROOT, 'Account Service'),
      ServiceEnabled: true,
      Status: status(),
      MinPasswordLength: PASSWORD.shortest,
      MaxPasswordLength: PASSWORD.longest,
      HTTPBasicAuth: 'Enabled',
      Accounts: link(...ACCOUNTS),
      Roles: link(...ROLES),
    }),
  }),
  ofService('/AccountService/Accounts', {
    reads: 'read accounts',
    get: ({ service, caller }) =>
      collection('ManagerAccountCollection', ACCOUNTS, 'Accounts', own(caller ? service.visible(caller) : [])),
  }),
  ofMachine('/AccountService/Accounts/{machine}', {
    reads: 'read accounts',
    changes: 'change account',
    get: accountOf,
    patch: change,
  }),
  ofService('/AccountService/Roles', {
    reads: 'read accounts',
    get: () =>
      collection(
        'RoleCollection',
        ROLES,
        'Roles',
        Object.keys(PRIVILEGES).map((role) => link(...ROLES, role)),
      ),
  }),
  ofService('/AccountService/Roles/{role}', {
    reads: 'read accounts',
    get: ({ params }) => {
      const role = params['role']!
      const privileges = Object.hasOwn(PRIVILEGES, role) ? PRIVILEGES[role] : undefined
      return (
        privileges && {
          ...head('Role', [...ROLES, role], role),
          RoleId: role,
          IsPredefined: true,
          AssignedPrivileges: privileges,
          OemPrivileges: [],
        }
      )
    },
  }),
]
