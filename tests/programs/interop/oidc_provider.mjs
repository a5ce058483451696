// An authorization server that is nobody's of this project: oidc-provider, with resource
// indicators, JWT access tokens and dynamic registration. Prints its issuer once it listens.
//
//   node oidc_provider.mjs PORT RESOURCE
import { createRequire } from "node:module";

const [port, resource] = process.argv.slice(2);
const require = createRequire(`${process.env.NODE_PATH}/`);
const { Provider } = await import(require.resolve("oidc-provider"));
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clientAuthMethods: ["none"],
  clientDefaults: { token_endpoint_auth_method: "none" },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (context, indicator) => {
        if (indicator !== resource) throw new Error(`unknown resource ${indicator}`);
        return {
          scope: "shop",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg: "RS256" } },
        };
      },
    },
  },
  pkce: { required: () => true },
  scopes: ["openid", "offline_access", "shop"],
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log(issuer));
