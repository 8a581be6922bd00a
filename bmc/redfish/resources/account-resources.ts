import { opensAny } from '../access/authenticate.js'
import type { Machine } from '../../../machine/index.js'
import { boolCheck, checkPatch, choiceCheck, textCheck } from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { ofMachine, ofService, type MachineCall, type RedfishResource } from '../protocol/resource.js'

const ACCOUNT_ROOT = ['AccountService']
const ACCOUNTS = [...ACCOUNT_ROOT, 'Accounts']
const ROLES = [...ACCOUNT_ROOT, 'Roles']

/** The roles that the specification predefines; the account of a machine is an administrator. */
const PRIVILEGES: Readonly<Record<string, readonly string[]>> = {
  Administrator: ['Login', 'ConfigureManager', 'ConfigureUsers', 'ConfigureSelf', 'ConfigureComponents'],
  Operator: ['Login', 'ConfigureSelf', 'ConfigureComponents'],
  ReadOnly: ['Login', 'ConfigureSelf'],
}

/** Lengths of a password that an account can get. */
const PASSWORD = { shortest: 8, longest: 128 }

/** The account of a machine's BMC; its id is the machine's. */
function accountDocumentOf({
  machine,
  service,
  caller,
}: Pick<MachineCall, 'machine' | 'service' | 'caller'>): RedfishDocument {
  const { username } = service.accounts.of(machine) ?? caller!
  return {
    ...resourceHead('ManagerAccount', [...ACCOUNTS, machine.spec.id], `Account of ${machine.spec.id}`),
    UserName: username,
    Password: null,
    RoleId: 'Administrator',
    Enabled: true,
    Locked: false,
    AccountTypes: ['Redfish', 'IPMI'],
    PasswordChangeRequired: false,
    Links: { Role: referenceTo(...ROLES, 'Administrator') },
  }
}

async function patchAccount(call: MachineCall): Promise<void> {
  const { machine, service, body, caller } = call
  checkPatch(
    body,
    {
      UserName: textCheck({ most: 16, form: /^[\w.@-]+$/, says: 'letters, digits and . _ @ -' }),
      Password: textCheck(),
      Enabled: boolCheck,
      RoleId: choiceCheck(['Administrator']),
    },
    accountDocumentOf(call),
  )
  if (body['Enabled'] === false)
    throw messageRefusal(400, 'PropertyValueError', ['Enabled'], {
      property: 'Enabled',
      resolution: 'A machine has this account only: it cannot be disabled.',
    })
  const { UserName, Password } = body as { UserName?: string; Password?: string }
  if (Password !== undefined && (Password.length < PASSWORD.shortest || Password.length > PASSWORD.longest))
    throw messageRefusal(400, 'PasswordIncorrectLength', [], {
      property: 'Password',
      resolution: `Use ${PASSWORD.shortest} to ${PASSWORD.longest} characters.`,
    })
  const before = service.accounts.of(machine) ?? caller!
  const after = { username: UserName ?? before.username, password: Password ?? before.password }
  await service.accounts.set(machine, after)
  // A BMC's sessions go on when their account gets another password.
  if (!opensAny(service, before)) service.sessions.rename(before, after)
}

const accountLinks = (machines: readonly Machine[]) => machines.map(({ spec }) => referenceTo(...ACCOUNTS, spec.id))

/** Accounts: one a machine, all with the same role. */
export const ACCOUNT_RESOURCES: readonly RedfishResource[] = [
  ofService('/AccountService', {
    reads: 'read accounts',
    get: () => ({
      ...resourceHead('AccountService', ACCOUNT_ROOT, 'Account Service'),
      ServiceEnabled: true,
      Status: enabledStatus(),
      MinPasswordLength: PASSWORD.shortest,
      MaxPasswordLength: PASSWORD.longest,
      HTTPBasicAuth: 'Enabled',
      Accounts: referenceTo(...ACCOUNTS),
      Roles: referenceTo(...ROLES),
    }),
  }),
  ofService('/AccountService/Accounts', {
    reads: 'read accounts',
    get: ({ service, caller }) =>
      makeCollection(
        'ManagerAccountCollection',
        ACCOUNTS,
        'Accounts',
        accountLinks(caller ? service.visible(caller) : []),
      ),
  }),
  ofMachine('/AccountService/Accounts/{machine}', {
    reads: 'read accounts',
    changes: 'change account',
    get: accountDocumentOf,
    patch: patchAccount,
  }),
  ofService('/AccountService/Roles', {
    reads: 'read accounts',
    get: () =>
      makeCollection(
        'RoleCollection',
        ROLES,
        'Roles',
        Object.keys(PRIVILEGES).map((role) => referenceTo(...ROLES, role)),
      ),
  }),
  ofService('/AccountService/Roles/{role}', {
    reads: 'read accounts',
    get: ({ params }) => {
      const role = params['role']!
      const privileges = Object.hasOwn(PRIVILEGES, role) ? PRIVILEGES[role] : undefined
      return (
        privileges && {
          ...resourceHead('Role', [...ROLES, role], role),
          RoleId: role,
          IsPredefined: true,
          AssignedPrivileges: privileges,
          OemPrivileges: [],
        }
      )
    },
  }),
]
