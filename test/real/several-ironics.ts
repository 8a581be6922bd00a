import { seededRandom, type Scope } from '../../base/runtime/index.js'
import type { MemberRole } from '../../ironic-mock/index.js'
import { UpIronics } from '../kit/members/up-ironics.js'
import { RoundRobin } from '../kit/round-robin.js'
import { PostgresServer } from './postgres.js'

/** Ironics of one database in processes of their own, and a proxy that hands each request to the next of their APIs. */
export interface SeveralIronics {
  readonly proxy: RoundRobin
  readonly ironics: UpIronics
}

/**
 * Starts them with a server of their own; they end with the scope.
 *
 * @param options of each process
 */
export async function severalIronics(
  scope: Scope,
  options: readonly string[],
  roles: readonly MemberRole[] = ['conductor', 'conductor', 'api', 'api'],
): Promise<SeveralIronics> {
  const server = scope.use(await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] }))
  const database = `postgres://postgres@127.0.0.1:${server.port}/postgres`
  const random = seededRandom(Date.now() % 100_000)
  const ironics = scope.use(await UpIronics.open(database, roles, random, options))
  return { ironics, proxy: scope.use(await RoundRobin.open(ironics.apis)) }
}
