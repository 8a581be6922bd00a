import { afterAll, afterEach, beforeAll } from 'vitest'
import { Scope } from '../../base/runtime/index.js'
import type { DatabaseAddress } from '../../ironic-mock/store/postgres/database-address.js'
import { addressOf } from '../kit/members/member-cluster.js'
import { PostgresServer } from './postgres.js'

/** A PostgreSQL server for the tests of a file. What a test opens in `scope` ends with it. */
export class DatabaseScene {
  #server: PostgresServer | undefined
  #scope = new Scope()
  #schemas = 0

  /** @param prefix of the names of its schemas */
  constructor(private readonly prefix: string) {
    beforeAll(async () => {
      this.#server = await PostgresServer.open({ access: ['host all all 127.0.0.1/32 trust'] })
    })
    afterEach(async () => {
      const ended = this.#scope
      this.#scope = new Scope()
      await ended[Symbol.asyncDispose]()
    })
    afterAll(() => this.#server?.[Symbol.asyncDispose]())
  }

  get server(): PostgresServer {
    return this.#server!
  }

  get scope(): Scope {
    return this.#scope
  }

  /** Address of a schema that no other test has. */
  newAddress(): DatabaseAddress {
    return addressOf(this.server, `${this.prefix}-${++this.#schemas}`)
  }
}
