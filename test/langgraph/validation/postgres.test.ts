import { postgresUnderTest } from "../../backends/locations.ts";
import { validateOn } from "./suite.ts";

validateOn(postgresUnderTest);
