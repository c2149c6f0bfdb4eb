import { postgresUnderTest } from "../../support/places.ts";
import { reusedPostgres } from "../../support/postgres/places.ts";
import { validateOn } from "./suite.ts";

validateOn({ ...postgresUnderTest, make: reusedPostgres() });
