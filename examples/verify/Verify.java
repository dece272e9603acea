import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Verifies a licence file of lkm without a network: Java 17 or newer, its standard library alone.
 *
 * <pre>
 * java Verify.java FILE JWKS HOST PRODUCT WATERMARK [REVOCATIONS]
 * java Verify.java --activation PROOF JWKS HOST PRODUCT KEY NONCE
 * </pre>
 *
 * Prints the verdict; exit code 0 for ok, 5 for any other. JWKS holds the public keys (lkm signing-keys export) and
 * REVOCATIONS the list of revoked files (lkm revocations export): both come from a place you trust. WATERMARK is a file
 * of your own, which keeps the latest time that was seen, so that a clock set back gains nothing.
 *
 * <p>PROOF is a file with the proof of an activation, asked for with NONCE, which was made up for that one request.
 */
public final class Verify {
  /** Seconds that a clock may be behind. */
  private static final long LEEWAY = 60;

  /** What stands before the 32 bytes of an Ed25519 key (RFC 8410). */
  private static final String SPKI_PREFIX = "302a300506032b6570032100";

  private record Jws(String kid, Map<?, ?> claims, byte[] signed, byte[] signature) {}

  private record Result(String verdict, long now) {}

  public static void main(String[] args) throws Exception {
    long clock = System.currentTimeMillis() / 1000;
    if (args[0].equals("--activation")) {
      String proof = Files.readString(Path.of(args[1])).strip();
      finish(checkActivation(proof, readKeys(args[2]), args[3], args[4], args[5], args[6], clock));
    }
    Path watermark = Path.of(args[4]);
    long seen = Files.exists(watermark) ? Long.parseLong(Files.readString(watermark).strip()) : clock;
    Map<String, String> keys = readKeys(args[1]);
    String list = args.length > 5 ? Files.readString(Path.of(args[5])).strip() : null;
    Result result = check(Files.readString(Path.of(args[0])), keys, args[2], args[3], clock, seen, list);
    Path fresh = Path.of(args[4] + ".tmp");
    Files.writeString(fresh, result.now + "\n");
    Files.move(fresh, watermark, StandardCopyOption.REPLACE_EXISTING);
    finish(result.verdict);
  }

  private static void finish(String verdict) {
    System.out.println(verdict);
    System.exit(verdict.equals("ok") ? 0 : 5);
  }

  private static Map<String, String> readKeys(String path) throws Exception {
    Map<String, String> keys = new HashMap<>();
    for (Object key : (List<?>) ((Map<?, ?>) Json.parse(Files.readString(Path.of(path)))).get("keys")) {
      keys.put((String) ((Map<?, ?>) key).get("kid"), (String) ((Map<?, ?>) key).get("x"));
    }
    return keys;
  }

  /** The verdict on the proof of an activation. */
  private static String checkActivation(
      String proof, Map<String, String> keys, String host, String product, String key, String nonce, long clock) {
    Jws token;
    long iat, exp;
    try {
      token = readJws(proof, "lic-act+jwt");
      iat = (Long) token.claims.get("iat");
      exp = (Long) token.claims.get("exp");
    } catch (RuntimeException e) {
      return "token_malformed";
    }
    Map<?, ?> claims = token.claims;
    if (!keys.containsKey(token.kid)) return "unknown_kid";
    if (!isSignedBy(keys.get(token.kid), token)) return "signature_invalid";
    if (!nonce.equals(claims.get("nonce"))) return "nonce_mismatch";
    if (iat > clock + LEEWAY) return "not_yet_valid";
    if (exp <= clock) return "token_expired";
    if (!key.equals(claims.get("key"))) return "key_mismatch";
    if (!host.equals(claims.get("machine"))) return "machine_mismatch";
    return product.equals(claims.get("productId")) ? "ok" : "product_mismatch";
  }

  /** The verdict, and the latest time that is known: of the clock, the watermark and the file. */
  private static Result check(
      String text, Map<String, String> keys, String host, String product, long clock, long seen, String list) {
    long now = Math.max(clock, seen);
    Map<?, ?> file;
    Jws token;
    long iat, nbf, exp;
    try {
      file = (Map<?, ?>) Json.parse(text);
      token = readJws((String) file.get("licenseToken"), "lic+jwt");
      if (!"lkm-lic/1".equals(file.get("format")) || !token.kid.equals(file.get("keyId"))) throw new RuntimeException();
      iat = (Long) token.claims.get("iat");
      nbf = (Long) token.claims.get("nbf");
      exp = (Long) token.claims.get("exp");
      if (!Long.valueOf(1).equals(token.claims.get("v"))) throw new RuntimeException();
    } catch (RuntimeException e) {
      return new Result("token_malformed", now);
    }
    Map<?, ?> claims = token.claims;
    if (!keys.containsKey(token.kid)) return new Result("unknown_kid", now);
    if (!isSignedBy(keys.get(token.kid), token) || !claims.get("key").equals(file.get("signedKey"))) {
      return new Result("signature_invalid", now);
    }
    now = Math.max(now, iat);
    if (list != null) {
      try {
        Jws revoked = readJws(list, "lic-rev+jwt");
        boolean isSigned = keys.containsKey(revoked.kid) && isSignedBy(keys.get(revoked.kid), revoked);
        if (!isSigned || !claims.get("iss").equals(revoked.claims.get("iss"))) throw new RuntimeException();
        if ((Long) revoked.claims.get("exp") <= now) return new Result("revocations_expired", now);
        boolean isListed = ((List<?>) revoked.claims.get("files")).contains(claims.get("jti"))
            || ((List<?>) revoked.claims.get("licenses")).contains(claims.get("sub"));
        if (isListed) return new Result("revoked", now);
      } catch (RuntimeException e) {
        return new Result("revocations_invalid", now);
      }
    }
    if (seen > clock + LEEWAY) return new Result("clock_rolled_back", now);
    if (nbf > clock + LEEWAY) return new Result("not_yet_valid", now);
    if (exp <= now) return new Result("token_expired", now);
    if (!host.equals(claims.get("machine"))) return new Result("machine_mismatch", now);
    return new Result(product.equals(claims.get("productId")) ? "ok" : "product_mismatch", now);
  }

  /** The parts of a compact JWS; only EdDSA counts, whatever its header asks for. */
  private static Jws readJws(String token, String typ) {
    String[] parts = token.split("\\.", -1);
    if (parts.length != 3) throw new IllegalArgumentException("not three parts");
    Map<?, ?> header = (Map<?, ?>) Json.parse(new String(decode(parts[0]), StandardCharsets.UTF_8));
    boolean isOfKind = "EdDSA".equals(header.get("alg")) && typ.equals(header.get("typ"));
    if (!isOfKind || header.containsKey("crit")) throw new IllegalArgumentException("not a token of this kind");
    byte[] signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.UTF_8);
    Map<?, ?> claims = (Map<?, ?>) Json.parse(new String(decode(parts[1]), StandardCharsets.UTF_8));
    return new Jws((String) header.get("kid"), claims, signed, decode(parts[2]));
  }

  private static boolean isSignedBy(String x, Jws token) {
    try {
      byte[] spki = HexFormat.of().parseHex(SPKI_PREFIX + HexFormat.of().formatHex(decode(x)));
      PublicKey key = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(spki));
      Signature verifier = Signature.getInstance("Ed25519");
      verifier.initVerify(key);
      verifier.update(token.signed);
      return verifier.verify(token.signature);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static byte[] decode(String text) {
    byte[] bytes = Base64.getUrlDecoder().decode(text);
    if (Base64.getUrlEncoder().withoutPadding().encodeToString(bytes).equals(text)) return bytes;
    throw new IllegalArgumentException("not base64url");
  }

  /** Reads JSON, which Java has no reader for; a program that has one uses that. */
  private static final class Json {
    private final String text;
    private int at;

    private Json(String text) {
      this.text = text;
    }

    static Object parse(String text) {
      Json json = new Json(text);
      Object value = json.value();
      if (json.peek() != '\0') throw new IllegalArgumentException("more than one value");
      return value;
    }

    private Object value() {
      char first = peek();
      if (first == '{') return members();
      if (first == '[') return items();
      if (first == '"') return string();
      int start = at;
      while (at < text.length() && "+-.0123456789Eaeflnrstu".indexOf(text.charAt(at)) >= 0) at++;
      String word = text.substring(start, at);
      return switch (word) {
        case "true" -> true;
        case "false" -> false;
        case "null" -> null;
        default -> word.matches("-?\\d+") ? (Object) new BigInteger(word).longValueExact() : Double.valueOf(word);
      };
    }

    private Map<String, Object> members() {
      Map<String, Object> members = new HashMap<>();
      take('{');
      while (peek() != '}') {
        if (!members.isEmpty()) take(',');
        String name = string();
        take(':');
        members.put(name, value());
      }
      take('}');
      return members;
    }

    private List<Object> items() {
      List<Object> items = new ArrayList<>();
      take('[');
      while (peek() != ']') {
        if (!items.isEmpty()) take(',');
        items.add(value());
      }
      take(']');
      return items;
    }

    private String string() {
      take('"');
      StringBuilder string = new StringBuilder();
      for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
        if (c != '\\') {
          string.append(c);
          continue;
        }
        char escaped = text.charAt(at++);
        int plain = "bfnrt".indexOf(escaped);
        if (escaped == 'u') string.append((char) Integer.parseInt(text.substring(at, at += 4), 16));
        else string.append(plain < 0 ? escaped : "\b\f\n\r\t".charAt(plain));
      }
      return string.toString();
    }

    private char peek() {
      while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
      return at < text.length() ? text.charAt(at) : '\0';
    }

    private void take(char expected) {
      if (peek() != expected) throw new IllegalArgumentException("not JSON");
      at++;
    }
  }
}
